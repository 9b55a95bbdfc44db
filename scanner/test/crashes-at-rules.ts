import { startCrashing } from './crashing-engine.ts';

await startCrashing('rules');
