import { SCAM_FILE_MAXIMUM, SCAM_TEXT_MAXIMUM } from '@palisade/contract/scam-check';

/**
 * Limits that can leave a part of an input unread. A reader that reaches one reports it in its coverage; `limits.test.ts` puts a
 * scam beyond each limit.
 */
export const LIMITS = {
  /** Maximum bytes of a file. */
  file_bytes: SCAM_FILE_MAXIMUM,
  /** Maximum length of one text, in UTF-16 code units. */
  letters: SCAM_TEXT_MAXIMUM,
  /** Maximum total length of all texts of one input, in UTF-16 code units. */
  letters_together: 10 * SCAM_TEXT_MAXIMUM,
  /** Maximum length of a subject, in UTF-16 code units. */
  subject_letters: 1_000,
  /** Maximum length of a sender's name, and of the address. A mail address has at most 320 characters (RFC 3696, errata 1690). */
  sender_letters: 320,
  /**
   * Maximum length of a page's source; mail programs truncate at half of it. The parser's time grows faster than linearly when
   * elements are never closed.
   */
  html_letters: 200_000,
  /** Maximum links of one input, because each address is compared with all brand names. */
  links: 200,
  link_letters: 2_048,
  /** Maximum parts of an address's path that are compared with brand names, which takes up to 0.5 ms each. */
  path_parts: 16,
  /** Maximum redirects within one link. */
  redirects: 5,
  /** Maximum attachments of a mail, including those of attached mails. */
  attachments: 50,
  /** Maximum nesting of mails, including mails in signed content. */
  nested_mails: 3,
  /** Maximum pictures of one mail, because each takes up to 9 s. */
  pictures: 5,
  /** Maximum codes in one picture. */
  codes: 20,
  /**
   * Maximum pixels of a picture; the code reader needs six bytes per pixel. 24 million (5,712 x 4,284) is a photograph of a
   * good phone.
   */
  picture_pixels: 24_500_000,
  picture_side: 16_384,
  /** Maximum bytes for decoding a picture, a part of the WebAssembly memory of its process (`own-process.ts`). */
  picture_bytes: 144 * 1024 ** 2,
  /** Maximum pixels of a picture for text recognition: tesseract needs nine bytes per pixel, and reads 12 million within its limits. */
  picture_text_pixels: 12_500_000,
  header_bytes: 256 * 1024,
  /** Maximum nesting of MIME parts of a mail. */
  nested_parts: 50,
  /** Maximum DNS queries for one email. The sender chose the queried names, so each query reveals that the email was checked. */
  dns_questions: 2,
} as const;
export type Limit = keyof typeof LIMITS;
