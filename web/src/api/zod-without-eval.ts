import { config } from 'zod';

// Must be imported before any schema. zod compiles schemas with `new Function`, which the Content-Security-Policy blocks. Its fallback works, but each page load would report a violation.
config({ jitless: true });
