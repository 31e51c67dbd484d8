import { describe, expect, it } from 'vitest';
import { parseList, parseShow } from './subvolume-text.ts';

const [ONE, TWO] = ['a06f5060-2f24-8d4a-99fe-2a3597a7ff88', 'a34a7cd5-7dce-d648-af9f-5de82d08f37b'];

describe('parseList', () => {
  it('reads plain lists, and those with uuids', () => {
    const text = `ID 256 gen 7 top level 5 path @
ID 260 gen 7 top level 259 parent_uuid ${TWO} received_uuid -                                    uuid ${ONE} path @states/x/system
ID 261 gen 7 top level 5 parent_uuid -                                    uuid ${TWO} path a uuid path b
`;
    expect(parseList(text)).toEqual([
      { id: '256', parentId: '5', uuid: '', path: '@' },
      { id: '260', parentId: '259', uuid: ONE, path: '@states/x/system' },
      { id: '261', parentId: '5', uuid: TWO, path: 'a uuid path b' },
    ]);
  });

  it('leaves out what is no subvolume', () => {
    expect(parseList('\nERROR: something\nID x gen\n')).toEqual([]);
  });
});

describe('parseShow', () => {
  const text = `@states/x/system
\tName: \t\t\tsystem
\tUUID: \t\t\t${ONE}
\tParent UUID: \t\t${TWO}
\tReceived UUID: \t\t-
\tSubvolume ID: \t\t260
\tGeneration: \t\t7
\tGen at creation: \t7
\tFlags: \t\t\treadonly
\tSnapshot(s):
\t\t\t\t@states/y
`;

  it('reads what it needs', () => {
    expect(parseShow(text)).toEqual({
      id: '260',
      uuid: ONE,
      parentUuid: TWO,
      readOnly: true,
      pristine: true,
    });
    expect(
      parseShow(text.replace(TWO, '-').replace('readonly', '-').replace('on: \t\t7', 'on: \t\t8')),
    ).toEqual({
      id: '260',
      uuid: ONE,
      parentUuid: undefined,
      readOnly: false,
      pristine: false,
    });
  });

  it('takes nothing from the names of snapshots, which others choose', () => {
    const hostile = text.replace(`\tUUID: \t\t\t${ONE}\n`, '').concat(`\n\tUUID: \t\t\t${TWO}\n`);
    expect(parseShow(hostile)).toBeUndefined();
    expect(parseShow('')).toBeUndefined();
  });
});
