import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import {
  boolean,
  choice,
  defineSettings,
  describeSettings,
  duration,
  integer,
  list,
  readSettings,
  SettingsError,
  secret,
  text,
  unknownVariables,
  url,
  wait,
} from './index.ts';

const table = defineSettings('Sample', 'SAMPLE_', {
  SITE: { kind: url, about: 'where the site is', required: true },
  PORT: { kind: integer(1, 65_535), about: 'port', default: '8081', alsoNamed: ['PORT'] },
  KEY: { kind: secret, about: 'key' },
  WAIT: { kind: duration, about: 'wait', default: '60s' },
  ON: { kind: boolean, about: 'on', default: 'false' },
  NAMES: { kind: list, about: 'names', default: '' },
  MODE: { kind: choice('fast', 'safe'), about: 'mode', default: 'safe' },
  NOTE: { kind: text, about: 'note' },
});

describe('readSettings', () => {
  it('parses every kind and fills defaults', () => {
    const values = readSettings(table, {
      SAMPLE_SITE: 'https://a.test/',
      SAMPLE_NAMES: 'a, b,,',
      SAMPLE_ON: 'TRUE',
    });
    expect(values).toMatchObject({
      SITE: 'https://a.test',
      PORT: 8081,
      WAIT: 60_000,
      ON: true,
      NAMES: ['a', 'b'],
      MODE: 'safe',
    });
    expect(values.NOTE).toBeUndefined();
  });

  it.each([
    ['900', 900_000],
    ['900s', 900_000],
    ['15m', 900_000],
    ['1h30m', 5_400_000],
    ['1.5s', 1500],
    ['0', 0],
  ])('reads the duration %s', (given, expected) => {
    expect(readSettings(table, { SAMPLE_SITE: 'http://a', SAMPLE_WAIT: given }).WAIT).toBe(expected);
  });

  it.each(['0', '9ms', '597h', '99999999'])('refuses to wait for %s', (given) => {
    expect(() => wait(10).parse(given)).toThrow('expected a duration from 10ms to 24 days (576h)');
  });

  it.each(['10ms', '576h'])('waits for %s', (given) => {
    expect(wait(10).parse(given)).toBe(duration.parse(given));
  });

  it('prefers the own name over the other spelling and ignores an empty one', () => {
    expect(readSettings(table, { SAMPLE_SITE: 'http://a', PORT: '9' }).PORT).toBe(9);
    expect(readSettings(table, { SAMPLE_SITE: 'http://a', PORT: '9', SAMPLE_PORT: '7' }).PORT).toBe(7);
    expect(readSettings(table, { SAMPLE_SITE: 'http://a', PORT: '9', SAMPLE_PORT: '' }).PORT).toBe(9);
  });

  it('reports every problem at once and never a secret', () => {
    const broken = {
      SAMPLE_PORT: '99999',
      SAMPLE_MODE: 'slow',
      SAMPLE_WAIT: '3 weeks',
      SAMPLE_KEY: 'hunter2',
    };
    const error = catchError(() => readSettings(table, broken));
    expect(error).toBeInstanceOf(SettingsError);
    expect((error as SettingsError).problems).toEqual([
      'SAMPLE_SITE is required: where the site is',
      'SAMPLE_PORT: expected a number from 1 to 65535, not "99999"',
      'SAMPLE_WAIT: expected a duration such as 90s, 15m or 1h30m, not "3 weeks"',
      'SAMPLE_MODE: expected one of fast, safe, not "slow"',
    ]);
    expect(String(error)).not.toContain('hunter2');
  });

  it('keeps secrets from printing', () => {
    const values = readSettings(table, { SAMPLE_SITE: 'http://a', SAMPLE_KEY: 'hunter2' });
    for (const shown of [JSON.stringify(values), inspect(values), String(values.KEY)])
      expect(shown).not.toContain('hunter2');
    expect(values.KEY?.reveal()).toBe('hunter2');
  });
});

describe('unknownVariables', () => {
  it('hints at the nearest name and leaves foreign variables alone', () => {
    expect(
      unknownVariables([table], { SAMPLE_PROT: '1', PATH: '/bin', SAMPLE_KEY: 'x', SAMPLE_QUITE_OTHER: '' }),
    ).toEqual([
      { name: 'SAMPLE_PROT', nearest: 'SAMPLE_PORT' },
      { name: 'SAMPLE_QUITE_OTHER', nearest: undefined },
    ]);
  });
});

describe('describeSettings', () => {
  it('shows names, kind, default and meaning', () => {
    expect(describeSettings(table)).toContain(
      '| `SAMPLE_PORT`, `PORT` | whole number 1–65535 | `8081` | port |',
    );
    expect(describeSettings(table)).toContain('| `SAMPLE_SITE` | URL | **required** | where the site is |');
  });

  it('shows a family of settings once', () => {
    const family = { kind: text, about: 'Id of a client.', familyName: '<NAME>_ID' };
    const page = describeSettings(defineSettings('Families', 'F_', { A_ID: family, B_ID: family }));
    expect(page.split('\n').filter((line) => line.startsWith('| `'))).toEqual([
      '| `F_<NAME>_ID` | text |  | Id of a client. |',
    ]);
  });
});

function catchError(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}
