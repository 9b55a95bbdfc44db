import type { ScamCheck, ScamVerdict } from '@palisade/contract/scam-check';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useSearchParams } from 'react-router';
import { sentenceOf } from '#api/call.ts';
import { leftOf, rowsOf } from '#api/pages.ts';
import { ShowToSupport } from '#domain/conversation/show-to-support.tsx';
import { Badge, type Tone } from '#ui/badge.tsx';
import { Button } from '#ui/button.tsx';
import { Card } from '#ui/card.tsx';
import { Grid, Stack } from '#ui/layout.tsx';
import { ModalWindow } from '#ui/modal-window.tsx';
import { Moment, useMinute } from '#ui/moment.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { ShowMore } from '#ui/show-more.tsx';
import { ErrorNotice } from '#ui/states.tsx';
import { AnswerView } from './answer-view.tsx';
import { checksQuery, useDeleteCheck } from './scam-check.queries.ts';

const VERDICTS: Record<ScamVerdict, { tone: Tone; label: string }> = {
  dangerous: { tone: 'danger', label: 'Scam' },
  suspicious: { tone: 'attention', label: 'Suspicious' },
  nothing_found: { tone: 'plain', label: 'Nothing found' },
  not_checked: { tone: 'plain', label: 'Not checked' },
};

/** The person’s stored checks; a failure to load them, or nothing without any. */
export function KeptChecks() {
  const query = useInfiniteQuery(checksQuery);
  const [search, setSearch] = useSearchParams();
  const remove = useDeleteCheck();
  const now = useMinute();
  const rows = rowsOf(query.data);
  const open = rows?.find(({ id }) => id === search.get('check'));
  if (rows === undefined && query.error)
    return (
      <Card title="Kept checks">
        <ErrorNotice
          title="We couldn’t load your kept checks"
          sentence={sentenceOf(query.error)}
          onRetry={() => void query.refetch()}
        />
      </Card>
    );
  if (rows === undefined || rows.length === 0) return null;
  return (
    <Card title="Kept checks">
      <Stack as="ul" gap="2">
        {rows.map((check) => (
          <Grid as="li" columns="tail-2" gap="2" align="center" key={check.id}>
            <Grid
              type="button"
              as="button"
              columns="both"
              phone="under"
              gap="2"
              align="center"
              className="scam-kept__open hover bare rounded-s shrink"
              onClick={() => setSearch({ check: check.id }, { preventScrollReset: true })}
            >
              <Badge tone={VERDICTS[check.answer.verdict].tone}>{VERDICTS[check.answer.verdict].label}</Badge>
              <bdi className="ellipsis">{check.excerpt}</bdi>
              <span className="sub num">
                <Moment iso={check.created_at} now={now} />
              </span>
            </Grid>
            <ShowToSupport kind="scam_check" id={check.id} name={check.excerpt.slice(0, 60)} isSmall />
            <DeleteCheck check={check} busy={remove.isPending} onDelete={() => remove.mutate(check.id)} />
          </Grid>
        ))}
      </Stack>
      <Refusal error={remove.error} />
      {query.hasNextPage && (
        <ShowMore left={leftOf(query.data)} loading={query.isFetchingNextPage} onMore={query.fetchNextPage} />
      )}
      {open && (
        <ModalWindow title="Kept check" size={640} onClose={() => setSearch({}, { preventScrollReset: true })}>
          <Stack gap="4">
            <p className="muted break" dir="auto">
              {open.excerpt}
            </p>
            <AnswerView answer={open.answer} text={open.excerpt} />
          </Stack>
        </ModalWindow>
      )}
    </Card>
  );
}

/** Asks for confirmation on the button itself. */
function DeleteCheck({ check, busy, onDelete }: { check: ScamCheck; busy: boolean; onDelete: () => void }) {
  const [isSure, setIsSure] = useState(false);
  return (
    <Button
      variant="text"
      size="s"
      disabled={busy}
      aria-label={isSure ? `Really delete: ${check.excerpt.slice(0, 60)}` : `Delete: ${check.excerpt.slice(0, 60)}`}
      onBlur={() => setIsSure(false)}
      onClick={() => (isSure ? onDelete() : setIsSure(true))}
    >
      {isSure ? 'Really delete?' : 'Delete'}
    </Button>
  );
}
