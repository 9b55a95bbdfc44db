/** A `Content-Disposition` header for a download (RFC 6266): the full name, and an ASCII name for old programs. */
export function attachmentHeader(filename: string): string {
  const plain = filename.replaceAll(/[^\w .()-]/g, '_');
  const full = encodeURIComponent(filename.toWellFormed()).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16)}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${full}`;
}
