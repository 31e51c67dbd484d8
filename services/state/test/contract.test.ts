import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { operationNames } from '../src/rpc.ts';
import { loadDefinition } from '../src/server/definition.ts';
import { protoFile } from './daemon.ts';

// The contract's tables, copied as they are; the proto file, the code's types and the served definition must all agree with them.
const contract = readFileSync(fileURLToPath(new URL('./contract.md', import.meta.url)), 'utf8');

interface Field {
  message: string;
  field: string;
  type: string;
  number: number;
  choice: string;
}

const rows = contract
  .split('\n')
  .filter((line) => line.startsWith('|'))
  .map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll('`', '')),
  );

const [fieldRows, operationRows] = [
  rows.filter((row) => row.length === 5),
  rows.filter((row) => row.length === 3),
];

function contractFields(): { messages: string[]; fields: Field[] } {
  const fields: Field[] = [];
  const messages: string[] = [];
  let message = '';
  for (const [name, field, type, number, notes] of fieldRows.slice(2) as [
    string,
    string,
    string,
    string,
    string,
  ][]) {
    if (name !== '') {
      message = name;
      messages.push(message);
    }
    if (field === '(none)') continue;
    fields.push({ message, field, type, number: Number(number), choice: notes.replace('choice ', '') });
  }
  return { messages, fields };
}

const operations = operationRows.slice(2) as [string, string, string][];

it('has the 22 operations and 22 messages of the contract to compare with', () => {
  expect(operations).toHaveLength(22);
  expect(contractFields().messages).toHaveLength(22);
  expect(contractFields().fields).toHaveLength(42);
});

it('declares every message, field, number, type and choice, and nothing else', () => {
  const source = readFileSync(protoFile, 'utf8').replace(/\/\/.*/g, '');
  const found: Field[] = [];
  const messages: string[] = [];
  for (const [, message, body] of source.matchAll(/message (\w+) \{((?:[^{}]|\{[^{}]*\})*)\}/g) as Iterable<
    [string, string, string]
  >) {
    messages.push(message);
    const plain = body.replace(/oneof (\w+) \{([^}]*)\}/g, (_all, choice: string, inner: string) => {
      found.push(...fieldsOf(message, inner, choice));
      return '';
    });
    found.push(...fieldsOf(message, plain, ''));
  }
  const sorted = (fields: Field[]) => fields.map((field) => JSON.stringify(field)).sort();
  expect(messages.sort()).toEqual(contractFields().messages.sort());
  expect(sorted(found)).toEqual(sorted(contractFields().fields));
  expect(source).toMatch(/^syntax = "proto3";\s+package statesvc;/m);
});

it('serves every operation with its request and a stream of its response', () => {
  const service = loadDefinition()['statesvc.StateService'] as unknown as Record<string, ServedMethod>;
  const served = Object.entries(service).map(([name, method]) => {
    expect(method.requestStream).toBe(false);
    expect(method.responseStream).toBe(true);
    expect(method.path).toBe(`/statesvc.StateService/${name}`);
    return [name, method.requestType.type.name, method.responseType.type.name].join(' ');
  });
  expect(served.sort()).toEqual(operations.map((row) => row.join(' ')).sort());
  expect([...operationNames].sort()).toEqual(operations.map(([name]) => name).sort());
});

it('types every request and result of the code as the contract has them', () => {
  const source = readFileSync(fileURLToPath(new URL('../src/wire.ts', import.meta.url)), 'utf8');
  const { fields } = contractFields();
  const inCode: Record<string, string> = {
    string: 'string',
    bool: 'boolean',
    int32: 'number',
    bytes: 'Buffer',
  };
  for (const [name, request, response] of operations) {
    const declared = new RegExp(
      `^ {2}${name}: \\{\\s*request: (Empty|\\{[^}]*\\});\\s*result: (never|\\{[^}]*\\})`,
      'm',
    ).exec(source);
    const shape = (message: string, none: string) => {
      const own = fields.filter((field) => field.message === message && field.field !== 'log');
      return own.length === 0
        ? none
        : `{ ${own.map((field) => `${field.field}: ${inCode[field.type]}`).join('; ')} }`;
    };
    expect([name, declared?.[1], declared?.[2]]).toEqual([
      name,
      shape(request, 'Empty'),
      shape(response, 'never'),
    ]);
  }
});

interface ServedMethod {
  readonly path: string;
  readonly requestStream: boolean;
  readonly responseStream: boolean;
  readonly requestType: { readonly type: { readonly name: string } };
  readonly responseType: { readonly type: { readonly name: string } };
}

function fieldsOf(message: string, body: string, choice: string): Field[] {
  return [...body.matchAll(/(\w+) (\w+) = (\d+);/g)].map(([, type, field, number]) => ({
    message,
    field: field as string,
    type: type as string,
    number: Number(number),
    choice,
  }));
}
