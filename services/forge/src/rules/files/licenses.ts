/** Words that are in the text of one license only, in the order in which they are looked for; all of a line must be there. */
const WORDS: readonly (readonly [id: string, ...phrases: string[]])[] = [
  ['AGPL-3.0', 'gnu affero general public license version 3'],
  ['LGPL-3.0', 'gnu lesser general public license version 3'],
  ['LGPL-2.1', 'gnu lesser general public license version 2.1'],
  ['GPL-3.0', 'gnu general public license version 3'],
  ['GPL-2.0', 'gnu general public license version 2'],
  ['Apache-2.0', 'apache license version 2.0'],
  ['MPL-2.0', 'mozilla public license version 2.0'],
  ['EPL-2.0', 'eclipse public license v 2.0'],
  ['CC0-1.0', 'cc0 1.0 universal'],
  ['Unlicense', 'this is free and unencumbered software released into the public domain'],
  ['BSL-1.0', 'boost software license version 1.0'],
  ['MIT', 'permission is hereby granted free of charge to any person obtaining a copy of this software'],
  ['BSD-3-Clause', 'redistribution and use in source and binary forms', 'neither the name of'],
  ['BSD-2-Clause', 'redistribution and use in source and binary forms'],
  ['ISC', 'distribute this software for any purpose with or without fee is hereby granted provided'],
  ['0BSD', 'distribute this software for any purpose with or without fee is hereby granted. '],
];

/** Whether a file in the root of a repository may be the license. */
export function isLicenseFile(name: string): boolean {
  return /^(un)?licen[cs]e([.-]|$)|^copying([.-]|$)/i.test(name);
}

/** The SPDX id of the license a text is, by its own words; undefined for others. */
export function licenseOf(text: string): string | undefined {
  const words = text.toLowerCase().replace(/[^a-z0-9.]+/g, ' ');
  return WORDS.find(([, ...phrases]) => phrases.every((phrase) => words.includes(phrase)))?.[0];
}
