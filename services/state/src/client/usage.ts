/** What `croft state --help` prints. */
export const usage = `Usage: croft state <command> [options]

Commands:
  list                       the machines of this host
  show [machine]             a machine and its states, newest first
  save [name]                save the state of this machine; without a name it is automatic
  remove <state>             remove a state and the content that only it uses
  restore <state> <folder>   put what a state holds into an empty or new folder
  status                     how the daemon is
  dump                       everything the daemon knows, as JSON
  version                    the daemon's version

Options:
  --json           list, show, save, version: print JSON
  --full           show: also ids and datasets
  --boot-menu      save: update the boot menu afterwards
  --auto           save: mark the state as automatic
  --force          remove: also what depends on the state
  --dry-run        remove: only say what would be done
  -y, --yes        remove: do not ask
  --debug          send the daemon's debug lines, too
  -h, --help       this text

A state goes by its name, its id, or the end of its name (x7k2m1 for auto_x7k2m1).
Exit codes: 0 done, 1 failed, 2 not understood.
`;
