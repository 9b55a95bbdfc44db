import { shownEmail } from '@palisade/contract/shown-email';
import { assignSubscription, declinePlanRequest, type UserPlanRequest } from '@palisade/contract/subscription';
import { useQuery } from '@tanstack/react-query';
import { call } from '#api/call.ts';
import { useChange } from '#api/change.ts';
import { Button } from '#ui/button.tsx';
import { Card } from '#ui/card.tsx';
import { Grid, Row, Stack } from '#ui/layout.tsx';
import { describeDate, useMinute } from '#ui/moment.tsx';
import { effectOf, presentPlanOf } from './assign-form.tsx';
import { draftOfRequest, parseAssignment, refusalOf } from './drafts.ts';
import type { Message } from './message-line.tsx';
import { TypeBadge } from './plan-card.tsx';
import { describeMonths, describePrice } from './plan-words.ts';
import { allPlanRequestsQuery, subscriptionsQuery } from './subscriptions.queries.ts';

interface OpenRequestsProps {
  onMessage: (message: Message | undefined) => void;
  onLoad: (request: UserPlanRequest) => void;
}

/** Plan requests that wait for an answer; renders nothing without any. */
export function OpenRequests({ onMessage, onLoad }: OpenRequestsProps) {
  const { data: requests = [] } = useQuery(allPlanRequestsQuery);
  const { data: subscriptions = [] } = useQuery(subscriptionsQuery);
  const now = useMinute();
  /** Options of a change that answers a request. */
  const answer = (done: (request: UserPlanRequest) => string, failed: string) => ({
    onSuccess: (_: unknown, request: UserPlanRequest) => onMessage({ tone: 'good', text: done(request) }),
    onError(error: Error) {
      console.error(error);
      onMessage({ tone: 'danger', text: refusalOf(error, failed).sentence });
    },
  });
  const assign = useChange({
    of: assignSubscription,
    async mutationFn(request: UserPlanRequest) {
      const parsed = parseAssignment(draftOfRequest(request));
      if (!parsed.ok) throw new Error(parsed.sentence);
      return await call(assignSubscription, { body: parsed.body });
    },
    ...answer(
      ({ user_email }) => `Subscription assigned successfully to ${shownEmail(user_email)}`,
      'Failed to assign subscription',
    ),
  });
  const decline = useChange({
    of: declinePlanRequest,
    mutationFn: ({ id }: UserPlanRequest) => call(declinePlanRequest, { body: { request_id: id } }),
    ...answer(({ user_email }) => `Request from ${shownEmail(user_email)} declined`, 'Failed to decline the request'),
  });
  if (requests.length === 0) return null;

  function send(change: typeof decline | typeof assign, request: UserPlanRequest) {
    // Two quick presses send one answer.
    if (assign.isPending || decline.isPending) return;
    onMessage(undefined);
    change.mutate(request);
  }

  function askAndDecline(request: UserPlanRequest) {
    const { user_email, template } = request;
    if (window.confirm(`Decline the request from ${shownEmail(user_email)} for “${template.template_name}”?`))
      send(decline, request);
  }

  const isSent = ({ isPending, variables }: typeof decline | typeof assign, { id }: UserPlanRequest) =>
    isPending && variables?.id === id;
  return (
    <Card title="Plan requests" level="raised">
      <Stack as="ul" lines>
        {requests.map((request) => {
          const { template } = request;
          const email = shownEmail(request.user_email);
          return (
            <Grid as="li" columns="tail" tablet="stack" gap="4" rowGap="2" align="center" className="pad-row" key={request.id}>
              <Stack as="span" className="shrink base break">
                <Row as="span" gap="2" rowGap="0" align="baseline">
                  <bdi className="medium">{email}</bdi>
                  <bdi className="small muted">{request.user_username}</bdi>
                </Row>
                <Row as="span" gap="2" rowGap="0" className="num">
                  <bdi>{template.template_name}</bdi>
                  <TypeBadge isPremium={template.is_premium} />
                  {`${describePrice(template.base_price, template.currency)} for ${describeMonths(template.duration_months)}`}
                </Row>
                <span className="sub small num">
                  {`Requested on ${describeDate(request.requested_at)}. `}
                  {effectOf(draftOfRequest(request), presentPlanOf(subscriptions, request.user_email), now)}
                </span>
              </Stack>
              <Row as="span" gap="2">
                <Button
                  size="s"
                  loading={isSent(assign, request)}
                  aria-label={`Assign plan to ${email}`}
                  onClick={() => send(assign, request)}
                >
                  Assign plan
                </Button>
                <Button variant="quiet" size="s" aria-label={`Change first, for ${email}`} onClick={() => onLoad(request)}>
                  Change first
                </Button>
                <Button
                  variant="quiet"
                  size="s"
                  loading={isSent(decline, request)}
                  aria-label={`Decline the request from ${email}`}
                  onClick={() => askAndDecline(request)}
                >
                  Decline
                </Button>
              </Row>
            </Grid>
          );
        })}
      </Stack>
    </Card>
  );
}
