/** A label that a repository may start with. */
export interface LabelTemplate {
  name: string;
  /** Six hexadecimal digits. */
  color: string;
  description: string;
  /** Whether it takes the place of others of its scope. */
  exclusive: boolean;
}

const plain = (name: string, color: string, description: string): LabelTemplate => ({
  name,
  color,
  description,
  exclusive: false,
});
const oneOf = (name: string, color: string, description: string): LabelTemplate => ({
  name,
  color,
  description,
  exclusive: true,
});

/** Sets of labels that a repository may start with, in the order of their names. */
export const LABEL_SETS: Readonly<Record<string, readonly LabelTemplate[]>> = {
  Advanced: [
    oneOf('Kind/Breaking', 'b3261e', 'What worked before will have to be changed'),
    oneOf('Kind/Bug', 'd73a4a', 'It does not do what it says'),
    oneOf('Kind/Documentation', '3f7cac', 'Texts for those who use it or work on it'),
    oneOf('Kind/Feature', '2e8b57', 'Something it cannot do yet'),
    oneOf('Kind/Improvement', '6aa84f', 'Something it could do better'),
    oneOf('Kind/Security', '8e24aa', 'Somebody could do harm with it'),
    oneOf('Kind/Testing', '8d6e63', 'Tests that are missing or wrong'),
    oneOf('Priority/Critical', '7f0000', 'Before everything else'),
    oneOf('Priority/High', 'e65100', 'Soon'),
    oneOf('Priority/Medium', 'f9a825', 'When its turn comes'),
    oneOf('Priority/Low', '9e9d24', 'When there is time left'),
    plain('Reviewed/Confirmed', '455a64', 'Somebody else saw it, too'),
    plain('Reviewed/Duplicate', '90a4ae', 'Said elsewhere already'),
    plain('Reviewed/Invalid', 'b0bec5', 'Nothing is wrong here'),
    plain("Reviewed/Won't Fix", 'cfd8dc', 'It stays as it is'),
    plain('Status/Blocked', '5d4037', 'Waits for something else'),
    plain('Status/Need More Info', '6d4c41', 'Cannot be understood or repeated as it is told'),
  ],
  Default: [
    plain('bug', 'd73a4a', 'It does not do what it says'),
    plain('duplicate', '90a4ae', 'Said elsewhere already'),
    plain('enhancement', '6aa84f', 'Something new, or better than it is'),
    plain('help wanted', '2e8b57', 'Who has time for it is welcome'),
    plain('invalid', 'b0bec5', 'Nothing is wrong here'),
    plain('question', '8e24aa', 'Somebody would like to know more'),
    plain('wontfix', 'cfd8dc', 'It stays as it is'),
  ],
};

/** The labels of a set, whatever the case of its name; undefined when there is none. */
export function findLabelSet(name: string): readonly LabelTemplate[] | undefined {
  return Object.entries(LABEL_SETS).find(([title]) => title.toLowerCase() === name.toLowerCase())?.[1];
}
