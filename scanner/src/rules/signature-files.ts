import { z } from 'zod';

/** The prepared file of one feed: joined YARA sources, or a list of `buildHashList`. `digest` is the SHA-256 of the file, in hex. */
export const feedFileSchema = z.object({
  id: z.string(),
  kind: z.enum(['yara', 'sha256']),
  path: z.string(),
  digest: z.string(),
  /** Matches of a `note` feed do not make a file infected: they are shown beside the verdict. */
  severity: z.enum(['alarm', 'note']),
});
export type FeedFile = z.infer<typeof feedFileSchema>;

/** Paths of the signatures: the rule pack that ships with the product, and the additional feeds. */
export const signatureFilesSchema = z.object({ rules_folder: z.string(), feeds: z.array(feedFileSchema) });
export type SignatureFiles = z.infer<typeof signatureFilesSchema>;
