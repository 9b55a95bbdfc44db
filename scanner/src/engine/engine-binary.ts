import { createRequire } from 'node:module';

/** Finds the path of a package's file, as Node does. @throws where it is not installed */
type Resolve = (name: string) => string;

/**
 * Whether YARA-X has a binary for this platform: npm installs it as a package of its own, and its publisher has none for Linux on arm64. The binary itself is not loaded.
 * Without one a server serves everything else, and its files stay pending.
 */
export function hasEngineBinary(
  platform: string = process.platform,
  cpu: string = process.arch,
  resolve: Resolve = createRequire(import.meta.url).resolve,
): boolean {
  try {
    resolve(`@litko/yara-x-${platform}-${cpu}${platform === 'linux' ? '-gnu' : ''}/package.json`);
    return true;
  } catch {
    return false;
  }
}
