import { describe, expect, it } from 'vitest';
import { checkStyle, MERGE_STYLES, nameStyle, type StyleSwitches } from './merge-style.ts';

const all = {
  allow_merge: true,
  allow_rebase: true,
  allow_rebase_explicit: true,
  allow_squash: true,
  allow_fast_forward_only: true,
  allow_manual_merge: true,
};
const none = Object.fromEntries(Object.keys(all).map((name) => [name, false])) as typeof all;

function readStyle(text: string, switches: StyleSwitches) {
  const style = nameStyle(text);
  checkStyle(style, switches);
  return style;
}

describe('merge rule 5', () => {
  it.each(MERGE_STYLES)('%s is served where it is allowed', (style) => {
    expect(readStyle(style, all)).toBe(style);
    expect(() => readStyle(style, none)).toThrow(expect.objectContaining({ kind: 'not-allowed' }));
  });

  it('an empty style is an ordinary merge', () => {
    expect(readStyle('', all)).toBe('merge');
    expect(() => readStyle('', { ...all, allow_merge: false })).toThrow(
      'merge is not allowed an allowed merge style for this repository',
    );
  });

  it.each(['Merge', '--ours', 'octopus', ' ', '__proto__'])('%j is 405', (style) => {
    expect(() => readStyle(style, all)).toThrow(expect.objectContaining({ kind: 'not-allowed' }));
  });
});
