import { z } from 'zod';
import { phraseSchema } from './phrase.ts';
import { fieldErrorSchema, problemSchema } from './problem.ts';

/**
 * An invalid field with the phrase of its sentence. Sentences of the endpoint's own schema have no phrase, because pages have the same schema.
 * Separate from `problem.ts`, because pages read the English text and do not load this file.
 */
const phrasedErrorSchema = fieldErrorSchema.extend({ phrase: phraseSchema.optional() });
export type PhrasedError = z.infer<typeof phrasedErrorSchema>;

/** The body of an error reply with the phrase of its `detail`, which older servers do not send. */
export const phrasedProblemSchema = problemSchema.extend({
  phrase: phraseSchema.optional(),
  errors: z.array(phrasedErrorSchema).optional(),
});
export type PhrasedProblem = z.infer<typeof phrasedProblemSchema>;
