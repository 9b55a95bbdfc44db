import { formatList } from '@palisade/contract/intl';
import { IconHome } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useNavigate } from 'react-router';
import { CallError, sentenceOf } from '#api/call.ts';
import { Button } from '#ui/button.tsx';
import { ScreenLink } from '#ui/button-link.tsx';
import { Lead, LeadWaiting } from '#ui/lead.tsx';
import { Page } from '#ui/page.tsx';
import { Refusal } from '#ui/refusal.tsx';
import { EmptyState, ErrorNotice } from '#ui/states.tsx';
import { homeInviteQuery, useJoinHome } from './household.queries.ts';

/** Target of the link in an invitation to a home. The token is in the fragment, which browsers do not send to the server. */
export function JoinHomePage() {
  const [token] = useState(() => window.location.hash.slice(1));
  const { data: invite, error, refetch } = useQuery(homeInviteQuery(token));
  const join = useJoinHome();
  const navigate = useNavigate();
  const isGone = token === '' || (error instanceof CallError && error.status === 404);
  return (
    <Page title="Join a home" sentence="Guardians of a home share its rules and its people.">
      {isGone && (
        <EmptyState
          icon={IconHome}
          title="This invitation doesn’t work"
          sentence={error ? sentenceOf(error) : 'Open the link of your invitation.'}
          action={
            <ScreenLink to="/household" variant="quiet">
              Go to your household
            </ScreenLink>
          }
        />
      )}
      {error && !isGone && (
        <ErrorNotice title="We couldn’t load the invitation" sentence={sentenceOf(error)} onRetry={() => void refetch()} />
      )}
      {!invite && !error && !isGone && <LeadWaiting label="Loading the invitation" />}
      {invite && (
        <Lead
          tone="unknown"
          icon={IconHome}
          title={`${invite.invited_by} invites you to their home.`}
          sentence={
            invite.has_own_home
              ? 'You already have a home. Leave it first, on your household page.'
              : invite.profiles.length === 0
                ? 'You get the same rights: people, rules, and answers.'
                : `You get the same rights over rules and devices of ${formatList(invite.profiles)}.`
          }
          action={
            !invite.has_own_home && (
              <Button
                size="l"
                loading={join.isPending}
                onClick={() => join.mutate(token, { onSuccess: () => void navigate('/household', { replace: true }) })}
              >
                Join
              </Button>
            )
          }
        />
      )}
      <Refusal error={join.error} />
    </Page>
  );
}
