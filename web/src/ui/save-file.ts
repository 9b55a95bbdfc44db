const REVOKE_AFTER_MS = 60_000;

/** Makes the browser save a file. */
export function saveFile(name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  // The browser reads the file after the click event.
  setTimeout(() => URL.revokeObjectURL(address), REVOKE_AFTER_MS);
}
