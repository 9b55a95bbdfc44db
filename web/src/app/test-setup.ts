import '@testing-library/jest-dom/vitest';
import { onlineManager } from '@tanstack/react-query';
import { cleanup, configure } from '@testing-library/react';
import { afterEach, vi } from 'vitest';

// The files of a worker share what they import of packages, which takes longest to load; what is ours each has anew, as a page has.
vi.resetModules();

// A condition that becomes true is seen at once; 1 s, the library's own patience, is little on a machine that is busy.
configure({ asyncUtilTimeout: 10_000 });

// Stand-ins for layout and dialogs that jsdom lacks. They decide no outcome of a test.
vi.stubGlobal('matchMedia', (query: string) => ({
  matches: false,
  media: query,
  addEventListener: () => undefined,
  removeEventListener: () => undefined,
}));
vi.stubGlobal('scrollTo', () => undefined);
vi.stubGlobal(
  'IntersectionObserver',
  class {
    observe = () => undefined;
    disconnect = () => undefined;
  },
);
// The testing library sets it in the first file that loads it, and takes it back at its end.
vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);
Element.prototype.scrollIntoView ??= () => undefined;
HTMLDialogElement.prototype.showModal ??= function showModal(this: HTMLDialogElement) {
  this.open = true;
};
HTMLDialogElement.prototype.close ??= function close(this: HTMLDialogElement) {
  this.open = false;
};

afterEach(() => {
  cleanup();
  localStorage.clear();
  vi.useRealTimers();
  onlineManager.setOnline(true);
});
