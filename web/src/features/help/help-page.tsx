import type { ArticleSummary } from '@palisade/contract/help';
import { may } from '@palisade/contract/may';
import { IconBook, IconBook2, IconSearch } from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'react-router';
import { useSession } from '#api/session.ts';
import { ScreenLink } from '#ui/button-link.tsx';
import { Grid, Row, Stack } from '#ui/layout.tsx';
import { SearchFilter, useSearched } from '#ui/list-filters.tsx';
import { Listed } from '#ui/listed.tsx';
import { Page } from '#ui/page.tsx';
import { Sentence } from '#ui/sentence.tsx';
import { EmptyState } from '#ui/states.tsx';
import { articlesQuery } from './help.queries.ts';
import { sortedBySituation } from './situations.ts';
import '#ui/card.css';
import './help.css';

/** The list of help pages with a search. */
export function HelpPage() {
  const user = useSession().session?.user_info;
  const [typed, setTyped] = useState('');
  const search = useSearched(typed);
  const { data, isPlaceholderData, error, refetch } = useQuery({ ...articlesQuery(search), placeholderData: keepPreviousData });
  return (
    <Page
      title="Help"
      sentence={
        <Sentence
          text="Short answers in plain words. If none fits, {write}: a person reads it."
          parts={{ write: <Link to="/chat">write to support</Link> }}
        />
      }
      aside={
        user && may.administrate(user) ? (
          <ScreenLink to="/admin/help" variant="quiet" size="s">
            Edit help pages
          </ScreenLink>
        ) : undefined
      }
    >
      <section className="card help" aria-label="Help pages">
        <Stack className="below-4">
          <SearchFilter label="Search the help pages" placeholder="What is it about?" value={typed} onChange={setTyped} />
        </Stack>
        <Listed
          of="the help pages"
          list={{ rows: data, isOutdated: isPlaceholderData, error, refetch }}
          empty={
            search === '' ? (
              <EmptyState
                icon={IconBook2}
                title="No help pages yet"
                sentence="Your provider has not written any. Support answers in the chat."
                action={<Link to="/chat">Go to the support chat</Link>}
              />
            ) : (
              <EmptyState
                icon={IconSearch}
                title="Nothing found"
                sentence="No help page has these words. Try another one, or ask support."
                action={<Link to="/chat">Ask support</Link>}
              />
            )
          }
        >
          {(articles) => (
            <>
              {search === '' ? <BySituation all={data ?? []} articles={articles} /> : <ArticleList articles={articles} />}
              {/* Rendered with the list, so that it does not move. Links to a file of the server, not to a screen of the application. */}
              <p className="sub above-4">
                <a className="muted" href="/third-party-notices.txt">
                  Licenses of the software in Palisade
                </a>
              </p>
            </>
          )}
        </Listed>
      </section>
    </Page>
  );
}

/** Urgent situations in the person's words, then the other help pages. Situations come from all pages: `articles` may be the first ones, and later situations would move the list. */
function BySituation({ all, articles }: { all: readonly ArticleSummary[]; articles: readonly ArticleSummary[] }) {
  const { urgent } = sortedBySituation(all);
  const { others } = sortedBySituation(articles);
  return (
    <Stack gap="3">
      {urgent.length > 0 && (
        <>
          <h2>What happened?</h2>
          <Grid as="ul" columns="fit-m" gap="2">
            {urgent.map(({ slug, words, icon: Icon }) => (
              <li key={slug}>
                <Row
                  as={Link}
                  to={`/help/${slug}`}
                  wrap={false}
                  gap="2"
                  className="surface-amber full-height pad-m ink medium unlined hover-underline"
                >
                  <Icon className="amber fixed" size={20} stroke={1.7} aria-hidden="true" />
                  {words}
                </Row>
              </li>
            ))}
          </Grid>
          {others.length > 0 && <h2>Other questions</h2>}
        </>
      )}
      <ArticleList articles={others} />
    </Stack>
  );
}

function ArticleList({ articles }: { articles: readonly ArticleSummary[] }) {
  return (
    <Grid as="ul" columns="fit-l" gap="4" rowGap="1">
      {articles.map(({ id, slug, title, summary }) => (
        <li key={id}>
          <Grid to={`/help/${slug}`} as={Link} columns="lead" gap="3" className="hover full-height pad-s rounded ink unlined">
            <IconBook className="accent" size={20} stroke={1.7} aria-hidden="true" />
            <Stack as="span" gap="0" className="top">
              <b className="medium">{title}</b>
              <span className="sub off-phone">{summary}</span>
            </Stack>
          </Grid>
        </li>
      ))}
    </Grid>
  );
}
