import { unacceptable } from '../failures.ts';
import { GITIGNORES } from './gitignores.ts';
import { LICENCES } from './licences.ts';

/** What the first commit of a repository is to hold. */
export interface StarterWish {
  name: string;
  description: string;
  /** Key of a licence, or nothing. */
  licence: string;
  /** Names of gitignore templates, separated by commas. */
  gitignores: string;
  /** Name of the template of the README. */
  readme: string;
  /** Who holds the rights. */
  owner: string;
  year: number;
}

/**
 * The files of a first commit, by their names.
 * @throws 422 for a template nobody has
 */
export function starterFiles(wish: StarterWish): Map<string, string> {
  const { name, description, readme } = wish;
  if (!['', 'default'].includes(readme.toLowerCase()))
    throw unacceptable(`readme does not exist [name: ${readme}]`);
  const files = new Map([
    ['README.md', [`# ${name}`, '', ...(description === '' ? [] : [description, ''])].join('\n')],
  ]);
  const names = wish.gitignores.split(',').map((one) => one.trim());
  const wanted = [...new Set(names.filter((one) => one !== ''))].map(findGitignore);
  if (wanted.length > 0) {
    const sections = wanted.map(([title, source]) =>
      wanted.length > 1 ? `### ${title}\n${source}` : source,
    );
    files.set('.gitignore', sections.join('\n'));
  }
  if (wish.licence !== '') {
    const licence = LICENCES.find(({ key }) => key.toLowerCase() === wish.licence.toLowerCase());
    if (licence === undefined) throw unacceptable(`license does not exist [name: ${wish.licence}]`);
    const text = licence.body.replaceAll('<year>', String(wish.year)).replaceAll('<owner>', () => wish.owner);
    files.set('LICENSE', text);
  }
  return files;
}

function findGitignore(name: string): [string, string] {
  const found = Object.entries(GITIGNORES).find(([title]) => title.toLowerCase() === name.toLowerCase());
  if (found === undefined) throw unacceptable(`gitignore does not exist [name: ${name}]`);
  return found;
}
