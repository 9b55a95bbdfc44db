import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { z } from 'zod';
import { serveParent } from './own-process.ts';
import { CORE, installedLanguages } from './picture-text.ts';

// Main file of the process that recognizes text in pictures with tesseract. The operator installs tesseract and its data; nothing
// is downloaded.

/** The used part of `tesseract.js-core`, an Emscripten module with Tesseract's API. */
const functionSchema = z.custom<(...args: unknown[]) => unknown>((value) => typeof value === 'function');
const apiSchema = z.object({
  Init: functionSchema,
  SetImageFile: functionSchema,
  Recognize: functionSchema,
  GetUTF8Text: functionSchema,
  Clear: functionSchema,
});
const coreSchema = z.object({
  FS: z.object({ writeFile: functionSchema, unlink: functionSchema }),
  TessBaseAPI: z.custom<new () => unknown>((value) => typeof value === 'function'),
});
/** Only the neural network engine (`OEM_LSTM_ONLY`). */
const ENGINE = 1;

async function open() {
  const require = createRequire(import.meta.url);
  const load = functionSchema.parse(require(CORE));
  // The module's console output is discarded.
  const core = coreSchema.parse(await load({ print: () => undefined, printErr: () => undefined }));
  const languages = installedLanguages();
  for (const { language, folder } of languages)
    core.FS.writeFile(`/${language}.traineddata`, gunzipSync(readFileSync(join(folder, `${language}.traineddata.gz`))));
  const made = new core.TessBaseAPI();
  // The methods are on the prototype, which an object parsed by zod does not have.
  const api = apiSchema.parse(Object.fromEntries(Object.keys(apiSchema.shape).map((name) => [name, bound(made, name)])));
  if (api.Init('/', languages.map(({ language }) => language).join('+'), ENGINE) !== 0)
    throw new Error('tesseract did not start');
  // Frees the file's copy in memory after tesseract has loaded it.
  for (const { language } of languages) core.FS.unlink(`/${language}.traineddata`);
  return { core, api, languages: languages.map(({ language }) => language) };
}

function bound(object: unknown, name: string): unknown {
  const method: unknown = typeof object === 'object' && object !== null ? Reflect.get(object, name) : undefined;
  return typeof method === 'function' ? method.bind(object) : undefined;
}

const opened = open();

serveParent(async (picture) => {
  const { core, api, languages } = await opened;
  core.FS.writeFile('/input', picture);
  const isUnread = api.SetImageFile(1, 0) === 1;
  core.FS.unlink('/input');
  if (isUnread) throw new Error('the picture cannot be read');
  api.Recognize(null);
  const text = z.string().parse(api.GetUTF8Text());
  api.Clear();
  return { text, languages };
});
