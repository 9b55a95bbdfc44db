// Loaded into a measured process: on SIGUSR2 it collects all garbage and writes the memory in use, in bytes, to MEMORY_FILE.
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
