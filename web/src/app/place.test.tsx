import { localeOf } from '@palisade/contract/intl';
import { render, screen } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

describe('the language of a browser', () => {
  it.each([
    ['en-US', 'en-US'],
    ['en', 'en'],
    ['EN-au', 'EN-au'],
    ['en-US@posix', 'en-US'],
    ['en_GB.UTF-8', 'en-GB'],
    ['en-US-u-hc-h23', 'en-US-u-hc-h23'],
    ['enm', 'en-GB'],
    ['de-DE', 'en-GB'],
    ['en-', 'en-GB'],
    ['C', 'en-GB'],
    ['', 'en-GB'],
    [undefined, 'en-GB'],
    [null, 'en-GB'],
  ])('%s is written in %s', (language, locale) => {
    expect(localeOf(language)).toBe(locale);
    expect(() => new Intl.DateTimeFormat(localeOf(language)).format(0)).not.toThrow();
  });
});

describe.each(['Etc/Unknown', undefined, 'Mars/Olympus'])('a browser whose time zone is %s', (timeZone) => {
  const { resolvedOptions } = Intl.DateTimeFormat.prototype;

  beforeEach(() => {
    vi.resetModules();
    vi.spyOn(navigator, 'language', 'get').mockReturnValue('en-US@posix');
    vi.spyOn(Intl.DateTimeFormat.prototype, 'resolvedOptions').mockImplementation(function options(this: Intl.DateTimeFormat) {
      return Object.assign(resolvedOptions.call(this), { timeZone });
    });
  });
  afterEach(() => {
    vi.restoreAllMocks();
    vi.resetModules();
  });

  it('shows times in UTC, and says so', async () => {
    const { describeMoment, describePlanEnd } = await import('#ui/moment.tsx');
    const now = Date.parse('2026-11-20T23:50:00Z');
    expect(describeMoment('2026-11-20T23:40:00Z', now)).toBe('today, 11:40 PM');
    expect(describePlanEnd('2026-11-20T23:40:00Z')).toBe('November 20, 2026');
    const { ZoneNote } = await import('#ui/zone-note.tsx');
    render(<ZoneNote />);
    expect(screen.getByRole('note')).toHaveTextContent('Your browser doesn’t share its time zone. Times here are in UTC.');
  });

  it('asks for the days of UTC', async () => {
    const asked: string[] = [];
    vi.stubGlobal('fetch', async (address: string) => {
      asked.push(address);
      return new Response('{"detail":"Not Found"}', { status: 404 });
    });
    const { fetchLiveFeed } = await import('#features/anti-hacking/anti-hacking.queries.ts');
    await fetchLiveFeed(new AbortController().signal).catch(() => undefined);
    expect(asked).toEqual([expect.stringContaining('time_zone=UTC')]);
  });
});

it('says nothing of a time zone that is known', async () => {
  const { ZoneNote } = await import('#ui/zone-note.tsx');
  render(<ZoneNote />);
  expect(screen.queryByRole('note')).not.toBeInTheDocument();
});
