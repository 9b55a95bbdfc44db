import { changeArticle, createArticle, listAllArticles, listArticles, readArticle } from '@palisade/contract/help';
import { cleanup, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { Route, Routes } from 'react-router';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { readDraft } from '#api/drafts.ts';
import { ADA, articleOf, messageOf } from '#api/fake-desk.ts';
import { MARIA } from '#api/fake-records.ts';
import { at, FakeServer, refusal, reply } from '#api/fake-server.ts';
import { startSession } from '#api/session.ts';
import { enter, renderForTest } from '#ui/render-for-test.tsx';
import { ArticlePage } from './article-page.tsx';
import { EditHelpPage } from './edit-help-page.tsx';
import { HelpPage } from './help-page.tsx';

const server = FakeServer.ofEachTest(MARIA);

const { body: _, ...SUMMARY } = articleOf();

beforeEach(() => {
  vi.spyOn(console, 'error').mockReturnValue();
  server.answer(listArticles, [SUMMARY]);
  server.answer(readArticle, articleOf());
  server.answer(listAllArticles, [articleOf({ is_published: false })]);
});

function open(address: string): void {
  renderForTest(
    <Routes>
      <Route path="/help" element={<HelpPage />} />
      <Route path="/help/:slug" element={<ArticlePage />} />
    </Routes>,
    address,
  );
}

describe('the help pages', () => {
  it('are found by their words, and say so when none has them', async () => {
    open('/help');
    expect(await screen.findByRole('link', { name: /What Pending means/u })).toHaveAttribute('href', '/help/what-pending-means');
    expect(screen.queryByRole('link', { name: 'Edit help pages' })).not.toBeInTheDocument();
    server.on(listArticles, (query) => {
      expect(query.get('search')).toBe('printer');
      return reply(listArticles, []);
    });
    await enter(userEvent, screen.getByRole('searchbox', { name: 'Search the help pages' }), 'printer');
    expect(await screen.findByText('Nothing found')).toBeVisible();
    expect(screen.getByRole('link', { name: 'Ask support' })).toHaveAttribute('href', '/chat');
  });

  it('begin with what is urgent, in the words of the person', async () => {
    const called = { ...SUMMARY, id: MARIA.id, slug: 'somebody-called-me', title: 'Someone called me about my computer' };
    server.answer(listArticles, [SUMMARY, called]);
    open('/help');
    const links = (await screen.findAllByRole('link', { name: /called me|Pending/u })).map(({ textContent }) => textContent);
    expect(links).toEqual(['Someone called me', `${SUMMARY.title}${SUMMARY.summary}`]);
  });

  it('lead to the licences of third parties, which the server has as a file', async () => {
    open('/help');
    const link = await screen.findByRole('link', { name: 'Licenses of the software in Palisade' });
    expect(link).toHaveAttribute('href', '/third-party-notices.txt');
  });

  // proves: support-staff-27
  it('show one as it was written, without any HTML in it', async () => {
    server.answer(readArticle, articleOf({ body: '## In short\n\n<script>alert(1)</script> **Wait.**' }));
    open('/help/what-pending-means');
    expect(await screen.findByRole('heading', { level: 1, name: 'What Pending means' })).toBeVisible();
    expect(screen.getByRole('heading', { level: 2, name: 'In short' })).toBeVisible();
    expect(screen.getByText(/<script>alert\(1\)<\/script>/u)).toBeVisible();
  });

  it('lead on to others, those about the same things first', async () => {
    const other = (slug: string, title: string) => ({
      ...SUMMARY,
      id: messageOf('').id,
      slug,
      title,
      summary: 'In plain words.',
    });
    const some = [other('bills', 'What it costs'), other('locked', 'A pending file that is locked'), SUMMARY];
    server.answer(listArticles, some);
    open('/help/what-pending-means');
    const beside = within(await screen.findByRole('complementary', { name: 'More help' }));
    await beside.findByRole('link', { name: 'What it costs' });
    expect(beside.getAllByRole('link').map((link) => link.getAttribute('href'))).toEqual([
      '/chat',
      '/help/locked',
      '/help/bills',
    ]);
  });

  it('say when there is no such one', async () => {
    server.on(readArticle, refusal('not_found'));
    open('/help/nothing');
    expect(await screen.findByRole('heading', { level: 1, name: 'There is no such help page' })).toBeVisible();
    expect(screen.getByRole('link', { name: 'All help pages' })).toBeVisible();
  });
});

describe('the editor', () => {
  it('shows what is written as customers see it, makes its address, and saves it', async () => {
    startSession({ access_token: 'token-1', user_info: ADA });
    server.answer(createArticle, articleOf({ title: 'Hang up!' }));
    renderForTest(<EditHelpPage />);
    const user = userEvent.setup();
    await user.click(await screen.findByRole('button', { name: 'New page' }));
    await enter(user, screen.getByRole('textbox', { name: 'Title' }), 'Hang up!');
    await enter(user, screen.getByRole('textbox', { name: 'In one sentence' }), 'A caller is no friend.');
    await enter(user, screen.getByRole('textbox', { name: 'Article' }), '**Hang up** now.');
    const preview = within(screen.getByRole('region', { name: 'Preview' }));
    await waitFor(() => expect(preview.getByText('Hang up').tagName).toBe('STRONG'));
    await user.click(screen.getByRole('checkbox', { name: /^Published/u }));
    await user.click(screen.getByRole('button', { name: 'Save' }));
    await waitFor(() =>
      expect(server.callsOf(createArticle)[0]?.body).toEqual({
        slug: 'hang-up',
        title: 'Hang up!',
        summary: 'A caller is no friend.',
        body: '**Hang up** now.',
        is_published: true,
      }),
    );
  });

  it('keeps what was written over a reload and a step back, and says that it is not saved', async () => {
    startSession({ access_token: 'token-1', user_info: ADA });
    const user = userEvent.setup();
    renderForTest(<EditHelpPage />);
    await user.click(await screen.findByRole('button', { name: 'New page' }));
    await enter(user, screen.getByRole('textbox', { name: 'Title' }), 'Hang up!');
    cleanup();
    renderForTest(<EditHelpPage />);
    await user.click(await screen.findByRole('button', { name: 'New page' }));
    expect(screen.getByRole('textbox', { name: 'Title' })).toHaveValue('Hang up!');
    expect(screen.getByText('Your earlier text is back. It isn’t saved yet.')).toBeVisible();
  });

  it('forgets what was written once it is saved, also where its writer left meanwhile', async () => {
    startSession({ access_token: 'token-1', user_info: ADA });
    const saved = Promise.withResolvers<ReturnType<typeof reply>>();
    server.on(createArticle, () => saved.promise);
    const user = userEvent.setup();
    renderForTest(<EditHelpPage />);
    await user.click(await screen.findByRole('button', { name: 'New page' }));
    await enter(user, screen.getByRole('textbox', { name: 'Title' }), 'Hang up!');
    await user.click(screen.getByRole('button', { name: 'Save' }));
    await waitFor(() => expect(server.callsOf(createArticle)).toHaveLength(1));
    expect(readDraft('help.new')).toContain('Hang up!');
    cleanup();
    saved.resolve(reply(createArticle, articleOf()));
    await waitFor(() => expect(readDraft('help.new')).toBe(''));
    renderForTest(<EditHelpPage />);
    await user.click(await screen.findByRole('button', { name: 'New page' }));
    expect(screen.getByRole('textbox', { name: 'Title' })).toHaveValue('');
  });

  it('changes one, marks drafts, and says at the field what is wrong', async () => {
    startSession({ access_token: 'token-1', user_info: ADA });
    const errors = [{ field: 'slug', message: 'Another page has this address.' }];
    server.on(at(changeArticle, articleOf()), refusal('invalid_field', { errors }));
    renderForTest(<EditHelpPage />);
    const user = userEvent.setup();
    await user.click(await screen.findByRole('button', { name: /What Pending means.*Draft/u }));
    expect(screen.getByRole('textbox', { name: 'Title' })).toHaveValue('What Pending means');
    await user.click(screen.getByRole('button', { name: 'Save' }));
    expect(await screen.findByText('Another page has this address.')).toBeVisible();
  });

  it('asks before what is written and not saved is left', async () => {
    startSession({ access_token: 'token-1', user_info: ADA });
    const ask = vi.spyOn(window, 'confirm').mockReturnValueOnce(false).mockReturnValueOnce(true);
    renderForTest(<EditHelpPage />);
    const user = userEvent.setup();
    await user.click(await screen.findByRole('button', { name: 'New page' }));
    await enter(user, screen.getByRole('textbox', { name: 'Title' }), 'Hang up!');
    const other = screen.getByRole('button', { name: /What Pending means/u });
    await user.click(other);
    expect(screen.getByRole('textbox', { name: 'Title' })).toHaveValue('Hang up!');
    await user.click(other);
    expect(screen.getByRole('textbox', { name: 'Title' })).toHaveValue('What Pending means');
    expect(ask).toHaveBeenCalledTimes(2);
    await user.click(screen.getByRole('button', { name: 'New page' }));
    expect(ask).toHaveBeenCalledTimes(2);
  });

  it('shows the list or the form on a phone, and the focus goes with it', async () => {
    const stub = window.matchMedia;
    vi.stubGlobal('matchMedia', (query: string) => ({ ...stub(query), matches: true }));
    startSession({ access_token: 'token-1', user_info: ADA });
    renderForTest(<EditHelpPage />);
    const user = userEvent.setup();
    await user.click(await screen.findByRole('button', { name: /What Pending means/u }));
    expect(screen.queryByRole('list', { name: 'All help pages' })).not.toBeInTheDocument();
    const back = screen.getByRole('button', { name: 'All help pages' });
    expect(back).toHaveFocus();
    expect(screen.getByRole('textbox', { name: 'Title' })).toHaveValue('What Pending means');
    // The text and its preview take turns.
    expect(screen.queryByRole('region', { name: 'Preview' })).not.toBeInTheDocument();
    await user.click(screen.getByRole('radio', { name: 'Preview' }));
    expect(screen.getByRole('region', { name: 'Preview' })).toBeVisible();
    expect(screen.queryByRole('textbox', { name: 'Article' })).not.toBeInTheDocument();
    await user.click(back);
    expect(screen.queryByRole('textbox', { name: 'Title' })).not.toBeInTheDocument();
    expect(screen.getByRole('button', { name: /What Pending means/u })).toHaveFocus();
    vi.stubGlobal('matchMedia', stub);
  });
});
