import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { z } from 'zod';
import { serveParent } from './own-process.ts';
import { CORE, installedLanguages } from './picture-text.ts';

// The main file of a process that reads the text of pictures by tesseract. It and its data are installed by the operator; nothing
// is fetched.

/** The used part of `tesseract.js-core`: an Emscripten module of Tesseract's own interface. */
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
/** The engine of neural networks alone (`OEM_LSTM_ONLY`). */
const ENGINE = 1;

async function open() {
  const require = createRequire(import.meta.url);
  const load = functionSchema.parse(require(CORE));
  // Its output is no part of an answer.
  const core = coreSchema.parse(await load({ print: () => undefined, printErr: () => undefined }));
  const languages = installedLanguages();
  for (const { language, folder } of languages)
    core.FS.writeFile(`/${language}.traineddata`, gunzipSync(readFileSync(join(folder, `${language}.traineddata.gz`))));
  const made = new core.TessBaseAPI();
  // Methods of the module stand on its prototype, which a parsed copy would not have.
  const api = apiSchema.parse(Object.fromEntries(Object.keys(apiSchema.shape).map((name) => [name, bound(made, name)])));
  if (api.Init('/', languages.map(({ language }) => language).join('+'), ENGINE) !== 0)
    throw new Error('tesseract did not start');
  // Each file was in memory twice: as a file, and as what was read of it.
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
