/** A header for the name of a file that is to be stored (RFC 6266): the name in full, and for old programs one of plain characters. */
export function attachmentHeader(filename: string): string {
  const plain = filename.replaceAll(/[^\w .()-]/g, '_');
  const full = encodeURIComponent(filename.toWellFormed()).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16)}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${full}`;
}
