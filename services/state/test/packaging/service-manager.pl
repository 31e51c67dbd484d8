# What systemd does for croft-state.socket and croft-state.service: makes the socket, starts the command with it, prints what the
# command says of itself, and with which code it ended. `service-manager.pl <socket> <notify socket> <command…>`
use strict;
use warnings;
use IO::Handle;
use Socket;

my ( $path, $notify_path, @command ) = @ARGV;
$^F = 10;    # descriptors up to this stay open in the command
STDOUT->autoflush(1);

socket( my $notify, AF_UNIX, SOCK_DGRAM, 0 ) or die "cannot make a socket: $!";
bind( $notify, pack_sockaddr_un($notify_path) ) or die "cannot bind $notify_path: $!";
socket( my $listener, AF_UNIX, SOCK_STREAM, 0 ) or die "cannot make a socket: $!";
bind( $listener, pack_sockaddr_un($path) ) or die "cannot bind $path: $!";
listen( $listener, 128 ) or die "cannot listen: $!";

my $child = fork() // die "cannot fork: $!";
if ( $child == 0 ) {
    require POSIX;
    POSIX::dup2( fileno($listener), 3 );
    $ENV{LISTEN_PID}    = $$;
    $ENV{LISTEN_FDS}    = 1;
    $ENV{NOTIFY_SOCKET} = $notify_path;
    exec(@command) or die "cannot run $command[0]: $!";
}
$SIG{ALRM} = sub { kill 'KILL', $child; die "cannot wait any longer" };
alarm 30;
recv( $notify, my $message, 4096, 0 );
print "$_\n" for grep { $_ ne '' } split /\n/, $message;
waitpid( $child, 0 );
print 'exit ', $? >> 8, "\n";
