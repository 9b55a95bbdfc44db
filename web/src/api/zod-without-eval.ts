import { config } from 'zod';

// Imported before anything that parses. zod compiles schemas with `new Function`, which the Content-Security-Policy refuses; it falls back to interpretation, but each page load would then report a violation.
config({ jitless: true });
