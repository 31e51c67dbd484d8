import { mkdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { explainFolder } from './refusal.js';

const BEAT_MS = 1000;

/** The holder touches its folder every second; one that was not touched for this long belongs to nobody. */
const STALE_MS = 15_000;

/**
 * Two starts on a fresh clone must not install into each other. The lock is a folder, because making one is atomic
 * everywhere and Node 20 has no lock of the kernel.
 * @returns what gives it back
 */
export async function takeInstallLock(folder) {
  for (let waiting = false; ; waiting = true) {
    if (tryTake(folder)) {
      // Two that found the same stale lock may both think they have it: the last to write its number does.
      await sleep(50);
      if (holder(folder) === process.pid) return keep(folder);
      continue;
    }
    if (isStale(folder)) setAside(folder);
    else {
      if (!waiting) console.error('Another start is installing the packages; waiting for it…');
      await sleep(200);
    }
  }
}

function tryTake(folder) {
  try {
    mkdirSync(folder);
    writeFileSync(join(folder, 'pid'), String(process.pid));
    return true;
  } catch (error) {
    if (error.code === 'EEXIST' || error.code === 'ENOENT') return false;
    throw explainFolder(error, join(folder, '..'));
  }
}

function keep(folder) {
  const beat = setInterval(() => {
    const now = new Date();
    try {
      utimesSync(folder, now, now);
    } catch {
      // Somebody cleared it away: nothing to keep.
    }
  }, BEAT_MS);
  return () => {
    clearInterval(beat);
    rmSync(folder, { recursive: true, force: true });
  };
}

function isStale(folder) {
  try {
    if (Date.now() - statSync(folder).mtimeMs > STALE_MS) return true;
    const pid = holder(folder);
    if (pid > 0) process.kill(pid, 0);
    return false;
  } catch (error) {
    return error.code === 'ESRCH';
  }
}

function setAside(folder) {
  const aside = `${folder}.${process.pid}.tmp`;
  try {
    renameSync(folder, aside);
  } catch {
    return; // somebody else did
  }
  rmSync(aside, { recursive: true, force: true });
}

function holder(folder) {
  try {
    return Number(readFileSync(join(folder, 'pid'), 'utf8'));
  } catch {
    return 0;
  }
}
