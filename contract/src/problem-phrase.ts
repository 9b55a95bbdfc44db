import { z } from 'zod';
import { phraseSchema } from './phrase.ts';
import { fieldErrorSchema, problemSchema } from './problem.ts';

/**
 * An invalid field with the phrase of its sentence. A sentence of the endpoint's own schema has none: a page has the same schema, and says it itself.
 * Apart from `problem.ts`, because pages read the English and do without this in their files.
 */
const phrasedErrorSchema = fieldErrorSchema.extend({ phrase: phraseSchema.optional() });
export type PhrasedError = z.infer<typeof phrasedErrorSchema>;

/** The body of an error answer with the phrase of its `detail`, which older servers do not send. */
export const phrasedProblemSchema = problemSchema.extend({
  phrase: phraseSchema.optional(),
  errors: z.array(phrasedErrorSchema).optional(),
});
export type PhrasedProblem = z.infer<typeof phrasedProblemSchema>;
