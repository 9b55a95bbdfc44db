import { SCAM_FILE_MAXIMUM, SCAM_TEXT_MAXIMUM } from '@palisade/contract/scam-check';

/**
 * Each limit that can leave a part of an input unread. A reader that meets one says so in its coverage; `limits.test.ts` puts a
 * bait behind each.
 */
export const LIMITS = {
  /** Bytes of a file. */
  file_bytes: SCAM_FILE_MAXIMUM,
  /** Maximum length of one text, in UTF-16 units. */
  letters: SCAM_TEXT_MAXIMUM,
  /** Maximum total length of all texts of one input, in UTF-16 units. */
  letters_together: 10 * SCAM_TEXT_MAXIMUM,
  /** Maximum length of a subject, in UTF-16 units. */
  subject_letters: 1_000,
  /** Letters of the name, and of the address, of a sender. An address has 320 at most (RFC 3696, errata 1690). */
  sender_letters: 320,
  /**
   * Letters of the source of a page; programs for mail clip at half of it. The parser takes longer than in proportion when
   * elements are never closed.
   */
  html_letters: 200_000,
  /** Links of one input: the address of each is compared with all names of brands. */
  links: 200,
  link_letters: 2_048,
  /** Parts of the path of an address that are compared with names of brands, which takes up to 0.5 ms each. */
  path_parts: 16,
  /** Redirections within one link. */
  redirects: 5,
  /** Attachments of a mail, with those of the mails within it. */
  attachments: 50,
  /** Mails within each other, and signed content that is a mail. */
  nested_mails: 3,
  /** Pictures of one mail, each of which takes up to 9 s. */
  pictures: 5,
  /** Codes of one picture. */
  codes: 20,
  /**
   * Pixels of a picture, of which the reader of codes holds six bytes for each. 24 million (5,712 x 4,284) are a photograph of a
   * good telephone.
   */
  picture_pixels: 24_500_000,
  picture_side: 16_384,
  /** Bytes that a picture takes while it is decoded, of the memory that its process has for programs in WebAssembly (`own-process.ts`). */
  picture_bytes: 144 * 1024 ** 2,
  /** Pixels of a picture whose text is read: tesseract holds nine bytes for each, and reads 12 million in its limits. */
  picture_text_pixels: 12_500_000,
  header_bytes: 256 * 1024,
  /** Parts of a mail within each other. */
  nested_parts: 50,
  /** Questions to the DNS for one email. Its sender chose their names, so that each tells them that this email was checked. */
  dns_questions: 2,
} as const;
export type Limit = keyof typeof LIMITS;
