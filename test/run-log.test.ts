import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '@croft/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Configuration } from '../launcher/configuration.ts';
import { openLog } from '../launcher/house/log.ts';

const { isTTY } = process.stderr;
const atTerminal = (value: boolean | undefined) =>
  Object.defineProperty(process.stderr, 'isTTY', { value, configurable: true, writable: true });
beforeEach(() => void atTerminal(true));
afterEach(() => void atTerminal(isTTY));

it('a task at a terminal makes no data folder for its log, and one that runs does', async () => {
  await using folder = await temporaryFolder();
  const dataFolder = join(folder.path, 'data');
  const settings = { LOG_LEVEL: 'info', LOG_FILE: undefined };
  const configuration = { settings, dataFolder, logLevelGiven: false } as Configuration;
  const file = join(dataFolder, 'croft.log');
  const beside = () => openLog(configuration, { ownsFolder: false }).file;
  expect([beside(), existsSync(dataFolder)]).toEqual([undefined, false]);
  mkdirSync(dataFolder);
  expect([beside(), existsSync(file)]).toEqual([file, true]);
  expect(openLog(configuration).file).toBe(file);
});
