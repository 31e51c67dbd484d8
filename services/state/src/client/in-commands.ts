/** What the daemon calls by the names of its operations, and the words for it here. */
const COMMANDS: Readonly<Record<string, string>> = {
  'MachineShow with full': '`croft state show --full`',
  MachineShow: '`croft state show --full`',
  MachineList: '`croft state list`',
  DumpStates: '`croft state dump`',
  Adopt: '`croft state adopt`',
  CreateUserData: '`croft state users create`',
  PrepareBoot: '`croft state prepare-boot`',
  CancelRevert: '`croft state revert-cancel`',
  'with force': 'with --force',
};

const NAMES = new RegExp(`(?<!")\\b(${Object.keys(COMMANDS).join('|')})\\b(?!")`, 'g');

/** A refusal of the daemon for people who have its commands before them. What they typed stands in quotation marks and stays. */
export function inCommands(message: string): string {
  return message.replace(NAMES, (name) => COMMANDS[name] as string);
}
