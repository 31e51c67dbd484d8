/** Where everything of ours lies, from the top level of the file system on. A subvolume, so that no snapshot holds it. */
export const STATES = '@states';
/** One record per save: the completion mark. */
export const RECORDS = `${STATES}/records`;
/** Subvolumes that are on their way somewhere. What is here and not written down in the intent is garbage. */
export const WORK = `${STATES}/work`;

/** Writable copies of states that a boot menu names, by the id of the state. */
export const BOOT = `${STATES}/boot`;

/** The subvolumes of a save lie in a folder with its id. */
export const isSaveId = (name: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(name);

/** A member of a save. */
export const memberPath = (save: string, dataset: string): string => `${STATES}/${save}/${dataset}`;
