import type { ArticleSummary } from '@palisade/contract/help';
import { foldText } from '@palisade/contract/text';
import { IconHeadset } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from 'react-router';
import { CallError, sentenceOf } from '#api/call.ts';
import { ScreenLink } from '#ui/button-link.tsx';
import { Grid, Row, Stack } from '#ui/layout.tsx';
import { Markdown } from '#ui/markdown.tsx';
import { describeDate } from '#ui/moment.tsx';
import { Page } from '#ui/page.tsx';
import { Sentence } from '#ui/sentence.tsx';
import { ErrorNotice, LoadingRows } from '#ui/states.tsx';
import { articleQuery, articlesQuery } from './help.queries.ts';
import '#ui/card.css';
import './help.css';

export function ArticlePage() {
  const { slug = '' } = useParams();
  const { data: article, error, refetch } = useQuery(articleQuery(slug));
  const isMissing = error instanceof CallError && (error.status === 404 || error.status === 422);
  return (
    <Page
      title={article?.title ?? (isMissing ? 'There is no such help page' : 'Help')}
      sentence={article?.summary}
      aside={
        <ScreenLink to="/help" variant="quiet" size="s">
          All help pages
        </ScreenLink>
      }
    >
      <Grid columns="side" tablet="stack" gap="4" align="start">
        <Stack as="article" gap="5" className="card">
          {article && (
            <>
              <Markdown text={article.body} />
              <p className="sub">{`Last changed on ${describeDate(article.updated_at)}`}</p>
            </>
          )}
          {!article && !error && <LoadingRows label="Loading the help page" />}
          {!article && error && (
            <ErrorNotice
              title={isMissing ? 'It was moved or removed' : 'The help page could not be read'}
              sentence={sentenceOf(error)}
              onRetry={() => void refetch()}
            />
          )}
        </Stack>
        <Stack as="aside" gap="4" aria-label="More help">
          <Row as="section" wrap={false} gap="3" className="card">
            <IconHeadset className="fixed accent" size={24} stroke={1.7} aria-hidden="true" />
            <p>
              <Sentence
                text="Did this not answer it? {link}: a person reads it."
                parts={{ link: <Link to="/chat">Ask support in the chat</Link> }}
              />
            </p>
          </Row>
          {article && <Related article={article} />}
        </Stack>
      </Grid>
    </Page>
  );
}

const RELATED_MAXIMUM = 5;

function wordsOf({ title, summary }: ArticleSummary): Set<string> {
  return new Set(foldText(`${title} ${summary}`).match(/\p{L}{4,}/gu));
}

/** Other help pages, those that share the most words first. */
function Related({ article }: { article: ArticleSummary }) {
  const { data = [] } = useQuery(articlesQuery(''));
  const words = wordsOf(article);
  const shared = (other: ArticleSummary) => [...wordsOf(other)].filter((word) => words.has(word)).length;
  const others = data
    .filter(({ id }) => id !== article.id)
    .toSorted((one, other) => shared(other) - shared(one))
    .slice(0, RELATED_MAXIMUM);
  if (others.length === 0) return null;
  return (
    <Stack as="section" gap="2" className="card">
      <h2>Other help pages</h2>
      <Stack as="ul" gap="2" className="base">
        {others.map(({ id, slug, title }) => (
          <li key={id}>
            <Link to={`/help/${slug}`}>{title}</Link>
          </li>
        ))}
      </Stack>
    </Stack>
  );
}
