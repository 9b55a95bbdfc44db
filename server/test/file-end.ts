import { afterAll } from 'vitest';
import { disposeLeft } from './after-file.ts';

/** Many servers may have been started. ms. */
const PATIENCE_MS = 300_000;

afterAll(disposeLeft, PATIENCE_MS);
