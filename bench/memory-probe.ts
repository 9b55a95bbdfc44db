// Loaded into a process that is measured: on SIGUSR2 it writes what its memory holds once what nobody needs any more is collected, in bytes, to MEMORY_FILE.
import { renameSync, writeFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { z } from 'zod';

setFlagsFromString('--expose-gc');
const collect = z.custom<() => void>((value) => typeof value === 'function').parse(runInNewContext('gc'));
const file = process.env['MEMORY_FILE'] ?? '';

process.on('SIGUSR2', () => {
  collect();
  collect();
  writeFileSync(`${file}.part`, JSON.stringify(process.memoryUsage()));
  renameSync(`${file}.part`, file);
});
