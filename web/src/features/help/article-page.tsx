import { IconHeadset } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from 'react-router';
import { CallError, sentenceOf } from '#api/call.ts';
import { ScreenLink } from '#ui/button-link.tsx';
import { Markdown } from '#ui/markdown.tsx';
import { describeDate } from '#ui/moment.tsx';
import { Page } from '#ui/page.tsx';
import { ErrorNotice, LoadingRows } from '#ui/states.tsx';
import { articleQuery } from './help.queries.ts';
import '#ui/card.css';
import './help.css';

/** One help page. */
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
      <article className="card help-article">
        {article && (
          <>
            <Markdown text={article.body} />
            <p className="sub">Last changed on {describeDate(article.updated_at)}</p>
          </>
        )}
        {!article && !error && <LoadingRows label="Loading the help page" />}
        {!article && error && (
          <ErrorNotice
            title={isMissing ? 'It was moved or taken away' : 'The help page could not be read'}
            sentence={sentenceOf(error)}
            onRetry={() => void refetch()}
          />
        )}
      </article>
      <section className="card help-more" aria-label="More help">
        <IconHeadset size={24} stroke={1.7} aria-hidden="true" />
        <p>
          Did this not answer it? <Link to="/chat">Ask support in the chat</Link>: a person reads it.
        </p>
      </section>
    </Page>
  );
}
