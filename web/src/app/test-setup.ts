import '@testing-library/jest-dom/vitest';
import { onlineManager } from '@tanstack/react-query';
import { cleanup, configure } from '@testing-library/react';
import { afterEach, vi } from 'vitest';

// The files of a worker share the modules of packages, which take longest to load. The project's own modules are loaded anew for each file.
vi.resetModules();

// Returns as soon as the condition is true. The limit is high, because on a busy machine a page took longer than 10 s to load.
configure({ asyncUtilTimeout: 20_000 });

// Stand-ins for layout and dialogs that jsdom lacks. They do not affect the result of a test.
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
// Testing Library sets it in the first file that loads it and resets it at the end of that file.
vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);
Element.prototype.scrollIntoView ??= () => undefined;
HTMLDialogElement.prototype.showModal ??= function showModal(this: HTMLDialogElement) {
  this.open = true;
};
HTMLDialogElement.prototype.close ??= function close(this: HTMLDialogElement) {
  this.open = false;
};

const { stopWatching } = await import('#ui/closed-by-back.ts');

afterEach(() => {
  cleanup();
  stopWatching();
  localStorage.clear();
  vi.useRealTimers();
  onlineManager.setOnline(true);
});
