import { expect, test } from 'vitest';
import { kernelLink, kernelNames, kernelText } from './kernel.ts';

test('the kernel is read, and a missing file is empty', () => {
  expect(kernelText('/proc/self/comm').length).toBeGreaterThan(0);
  expect(kernelText('/proc/self/status', 10).length).toBe(10);
  expect(kernelText('/proc/none')).toBe('');
  expect(kernelNames('/proc/self')).toContain('fd');
  expect(kernelNames('/proc/self', 3)).toHaveLength(3);
  expect(kernelNames('/proc/none')).toEqual([]);
  expect(kernelLink('/proc/self/exe')).toBe(process.execPath);
  expect(kernelLink('/proc/none')).toBe('');
});
