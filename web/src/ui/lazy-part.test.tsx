import { act, render, screen } from '@testing-library/react';
import { Component, type ReactNode } from 'react';
import { expect, test, vi } from 'vitest';
import { type LazyPart, lazyPart } from './lazy-part.tsx';

function Greeting({ name }: { name: string }) {
  return <p>Hello {name}</p>;
}

class Boundary extends Component<{ children: ReactNode }, { message?: string }> {
  override state: { message?: string } = {};
  static getDerivedStateFromError(error: Error) {
    return { message: error.message };
  }
  override render() {
    return this.state.message ?? this.props.children;
  }
}

function PageOfParts({ part: Part, isWanted }: { part: LazyPart<{ name: string }>; isWanted: boolean }) {
  const isReady = Part.useIsReady(isWanted);
  return isReady ? isWanted && <Part name="Ada" /> : <p>Loading</p>;
}

test('a part is drawn as soon as its file is there, and at once from then on', async () => {
  const file = Promise.withResolvers<typeof Greeting>();
  const load = vi.fn(() => file.promise);
  const Part = lazyPart(load);
  const view = render(<Part name="Ada" meanwhile={<p>Loading</p>} />);
  expect(view.container.textContent).toBe('Loading');
  await act(async () => file.resolve(Greeting));
  expect(view.container.textContent).toBe('Hello Ada');
  expect(render(<Part name="Bo" meanwhile={<p>Loading</p>} />).container.textContent).toBe('Hello Bo');
  expect(load).toHaveBeenCalledOnce();
});

/** Gives React its turns, and none of the time that it may wait for: 50 turns are a sixth of its 300 ms. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setTimeout(resolve));
}

test('a part is drawn without a wait of React beside another placeholder', async () => {
  const Other = lazyPart(() => new Promise<typeof Greeting>(() => {}));
  const Part = lazyPart(async () => Greeting);
  vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', false);
  const view = render(
    <>
      <Other name="Bo" meanwhile="Loading" />
      <Part name="Ada" />
    </>,
  );
  await turns();
  expect(view.container.textContent).toBe('LoadingHello Ada');
  vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);
});

test('a file that does not come is told where the part is drawn, and is asked for again the next time', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  const load = vi.fn(async () => Greeting).mockRejectedValueOnce(new Error('No connection'));
  const Part = lazyPart(load);
  render(
    <Boundary>
      <Part name="Ada" />
    </Boundary>,
  );
  expect(await screen.findByText('No connection')).toBeTruthy();
  render(<Part name="Bo" />);
  expect(await screen.findByText('Hello Bo')).toBeTruthy();
});

test('a page that waits for the file of a part draws both at once', async () => {
  const file = Promise.withResolvers<typeof Greeting>();
  const Part = lazyPart(() => file.promise);
  const view = render(<PageOfParts part={Part} isWanted={false} />);
  expect(view.container.textContent).toBe('');
  view.rerender(<PageOfParts part={Part} isWanted />);
  expect(view.container.textContent).toBe('Loading');
  await act(async () => file.resolve(Greeting));
  expect(view.container.textContent).toBe('Hello Ada');
});
