import { act, render, screen } from '@testing-library/react';
import { type ReactNode, useEffect } from 'react';
import { UNSAFE_createMemoryHistory as createMemoryHistory, Link, useNavigate, useParams, useSearchParams } from 'react-router';
import { beforeEach, expect, it, vi } from 'vitest';
import { ScreenRouter } from './screen-router.ts';
import { ScreenView } from './screen-view.tsx';

/** Ends of the loads of slow screens, by path. */
let loads: Map<string, PromiseWithResolvers<ReactNode>[]>;

function slow(path: string) {
  return () => {
    const load = Promise.withResolvers<ReactNode>();
    loads.set(path, [...(loads.get(path) ?? []), load]);
    return load.promise;
  };
}

function Article() {
  const { slug } = useParams();
  const [search] = useSearchParams();
  return (
    <h1>
      {slug} {search.get('part')}
    </h1>
  );
}

function Start() {
  const navigate = useNavigate();
  useEffect(() => void navigate('/start', { replace: true }), [navigate]);
  return null;
}

const ROUTES = [
  { path: '/', load: async () => <Start /> },
  {
    path: '/start',
    load: async () => (
      <>
        <h1>Start</h1>
        <Link to="/article/one?part=2">Article</Link>
      </>
    ),
  },
  { path: '/article/:slug', load: async () => <Article /> },
  { path: '/slow', load: slow('/slow') },
  { path: '/slower', load: slow('/slower') },
  { path: '*', load: async () => <h1>Nothing here</h1> },
];

const scrolled = vi.fn();

beforeEach(() => {
  loads = new Map();
  scrolled.mockReset();
  // As in Chromium, which returns a promise.
  vi.stubGlobal('scrollTo', scrolled.mockResolvedValue(undefined));
  sessionStorage.clear();
});

async function open(path: string) {
  const history = createMemoryHistory({ initialEntries: [path] });
  const router = new ScreenRouter(ROUTES, history);
  render(
    <ScreenView router={router} meanwhile={<p>Loading</p>}>
      {(page, _, { isLoading }) => <main aria-busy={isLoading}>{page}</main>}
    </ScreenView>,
  );
  await act(async () => {});
  const navigate = (to: string) => act(async () => void router.navigate(to));
  const finish = (slowPath: string) =>
    act(async () =>
      loads
        .get(slowPath)
        ?.at(-1)
        ?.resolve(<h1>{slowPath.slice(1)}</h1>),
    );
  return { history, router, navigate, finish };
}

const heading = () => screen.getByRole('heading').textContent;

it('shows a placeholder until the first screen is loaded', async () => {
  const { finish } = await open('/slow');
  expect(screen.getByText('Loading')).toBeVisible();
  await finish('/slow');
  expect(heading()).toBe('slow');
  expect(screen.queryByText('Loading')).not.toBeInTheDocument();
});

it('follows links and redirects, and gives screens the parameters of their address', async () => {
  const { history } = await open('/');
  expect(heading()).toBe('Start');
  expect(history.index).toBe(0);
  await act(async () => screen.getByRole('link').click());
  expect(heading()).toBe('one 2');
  expect(history.index).toBe(1);
  await act(async () => history.go(-1));
  expect(heading()).toBe('Start');
});

it('shows the last route for every other address', async () => {
  await open('/nowhere');
  expect(heading()).toBe('Nothing here');
});

it('keeps the present screen and its address until the next one is loaded', async () => {
  const { history, navigate, finish } = await open('/start');
  await navigate('/slow');
  expect(heading()).toBe('Start');
  expect(history.location.pathname).toBe('/start');
  expect(screen.getByRole('main')).toHaveAttribute('aria-busy', 'true');
  await finish('/slow');
  expect(heading()).toBe('slow');
  expect(history.location.pathname).toBe('/slow');
  expect(screen.getByRole('main')).toHaveAttribute('aria-busy', 'false');
});

it('opens the last of several addresses, in whatever order their screens are loaded', async () => {
  const { history, navigate, finish } = await open('/start');
  await navigate('/slow');
  await navigate('/slower');
  await finish('/slower');
  await finish('/slow');
  expect(heading()).toBe('slower');
  expect(history.index).toBe(1);
});

it('loads a screen once, and after a failure again', async () => {
  const router = new ScreenRouter(ROUTES, createMemoryHistory());
  const failed = router.navigate('/slow');
  loads.get('/slow')?.[0]?.reject(new Error('no connection'));
  await failed;
  expect(router.state).toMatchObject({ location: { pathname: '/slow' }, shown: { error: new Error('no connection') } });
  await router.navigate('/start');
  const loaded = router.navigate('/slow');
  loads.get('/slow')?.[1]?.resolve('the screen');
  await loaded;
  await router.navigate('/start');
  await router.navigate('/slow');
  expect(router.state.shown).toMatchObject({ element: 'the screen' });
  expect(loads.get('/slow')).toHaveLength(2);
});

it('scrolls a new screen to its top, and one of the history to where it was left', async () => {
  const { history, router, navigate } = await open('/start');
  vi.stubGlobal('scrollY', 700);
  await navigate('/article/one');
  expect(scrolled).toHaveBeenLastCalledWith(0, 0);
  vi.stubGlobal('scrollY', 30);
  await act(async () => history.go(-1));
  expect(scrolled).toHaveBeenLastCalledWith(0, 700);
  scrolled.mockReset();
  await act(() => router.navigate('/start?record=1', { preventScrollReset: true }));
  expect(scrolled).not.toHaveBeenCalled();
});
