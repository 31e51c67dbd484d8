#!/usr/bin/env node
// Starts a file of Croft on the right Node, installing packages first when that is needed:
//   node bootstrap.js <file> [args…]      as `croft`, without a file: main.ts
// An old Node must be able to read this file as far as the line that refuses it, so there is no syntax younger than
// Node 12 here and nothing is imported before.
var major = Number(process.versions.node.split('.')[0]);

function refuse(message) {
  console.error(message);
  process.exitCode = 1;
}

if (process.platform === 'win32') {
  refuse('Croft runs on Linux and macOS, not on Windows itself: run it in WSL 2 (https://aka.ms/wsl).');
} else if (major < 20) {
  refuse(
    'Croft needs Node.js 20 or later, and this is ' + process.version + ': get one from https://nodejs.org.',
  );
} else {
  // oxlint-disable-next-line node/no-process-env -- the one place before main.ts
  var environment = process.env;
  void import('./launcher/bootstrap/index.js').then(function (launcher) {
    return launcher.bootstrap(process.argv.slice(2), environment, refuse);
  });
}
