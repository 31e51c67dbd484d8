/** What `croft state --help` prints. */
export const usage = `Usage: croft state <command> [options]

Commands:
  list                           the machines of this host
  show [machine]                 a machine and its states, newest first
  save [name]                    save this machine and its users' homes; without a name it is automatic
  remove <state>                 remove a state and the content that only it uses
  restore <state> <folder>       put what a state holds into an empty or new folder
  describe <state> <text>        write down what somebody should know of a state; '' takes it away
  pin <state>                    keep a state from garbage collection and plain removal
  unpin <state>                  keep it no longer
  diff <state> [other state]     what differs from another state, or from what is there now
  revert <state>                 go back to a state at the next boot
  revert-cancel                  go back to no state at the next boot
  export <state>                 write a state with all it holds to a file
  import <file> [name]           take an exported state in, as one of this machine (- for standard input)
  watch                          tell what happens, until it is interrupted
  gc                             remove the automatic states that the policy does not keep
  users                          the homes that are saved with machines
  users create <user> <home>     make a home, or say where a user's is
  users move <home> <new home>   move a home
  users dissociate <user>        save a home with this machine no longer
  status                         how the daemon is
  dump                           everything the daemon knows, as JSON
  trace <cpu|heap|trace>         look into the daemon
  log-level <0|1|2>              the daemon's own log: warnings, information, debugging
  refresh                        read the storage again
  reload                         read the policy file again
  update-menu                    write the boot menu
  prepare-boot                   go back to the state that this boot names
  commit-boot                    this boot was good
  last-used                      write down that this machine is in use
  stop                           end the daemon
  version                        the daemon's version
  completion <bash|zsh|fish>     a script that completes these words, for your shell

Options:
  -u, --user NAME    save, remove, restore, describe, pin, diff, export: the state of one user's home
  --users            revert: homes, too; export: also the states of users that were saved with it
  --json             list, show, save, import, users, prepare-boot, commit-boot, version, dump: print JSON;
                     diff, watch: a line of JSON each
  --times            diff: modification times count
  --full             show: also ids and datasets
  --boot-menu        save: update the boot menu afterwards
  --auto             save: mark the state as automatic; update-menu: no failure where there is none
  -a, --all          gc: also states that somebody named
  --force            remove: also what is pinned or belongs to a system state, and on ZFS what was cloned from it
  --dry-run          remove: only say what would be done
  --remove-home      users dissociate: delete what is in the home
  -o, --output FILE  trace, export: where to (croft-state.cpuprofile, <state>.tar; - for standard output)
  --duration N       trace: seconds (30)
  -y, --yes          remove, revert, gc, users dissociate: do not ask
  --debug            send the daemon's debug lines, too
  --address H:P      the daemon of another machine, over TLS
  --ca FILE          --address: the authority that signed its certificate (those of the system)
  --cert FILE, --key FILE   --address: who you are, as a client certificate
  --token FILE       --address: who you are, as an access token
  -h, --help         this text

A state goes by its name, its id, or the end of its name (x7k2m1 for auto_x7k2m1).
Exit codes: 0 done, 1 failed, 2 not understood.
`;
