import { shownEmail } from '@palisade/contract/shown-email';
import { declinePlanRequest, type UserPlanRequest } from '@palisade/contract/subscription';
import { useQuery } from '@tanstack/react-query';
import { call } from '#api/call.ts';
import { useChange } from '#api/change.ts';
import { Button } from '#ui/button.tsx';
import { Card } from '#ui/card.tsx';
import { describeDate } from '#ui/moment.tsx';
import { TwoLines } from '#ui/two-lines.tsx';
import { refusalOf } from './drafts.ts';
import type { Message } from './message-line.tsx';
import { TypeBadge } from './plan-card.tsx';
import { describeMonths, describePrice } from './plan-words.ts';
import { allPlanRequestsQuery } from './subscriptions.queries.ts';

interface OpenRequestsProps {
  onMessage: (message: Message | undefined) => void;
  onLoad: (request: UserPlanRequest) => void;
}

function describeRequest({ template, requested_at }: UserPlanRequest): string {
  const price = describePrice(template.base_price, template.currency);
  return `${price} for ${describeMonths(template.duration_months)}, requested on ${describeDate(requested_at)}`;
}

/** Plan requests that wait for an answer; renders nothing without any. */
export function OpenRequests({ onMessage, onLoad }: OpenRequestsProps) {
  const { data: requests = [] } = useQuery(allPlanRequestsQuery);
  const { mutate, isPending, variables } = useChange({
    of: declinePlanRequest,
    mutationFn: ({ id }: UserPlanRequest) => call(declinePlanRequest, { body: { request_id: id } }),
    onSuccess: (_, { user_email }) => onMessage({ tone: 'good', text: `Request from ${shownEmail(user_email)} declined` }),
    onError(error) {
      console.error(error);
      onMessage({ tone: 'bad', text: refusalOf(error, 'Failed to decline the request').sentence });
    },
  });
  if (requests.length === 0) return null;

  function decline(request: UserPlanRequest) {
    const { user_email, template } = request;
    if (!window.confirm(`Decline the request from ${shownEmail(user_email)} for “${template.template_name}”?`)) return;
    onMessage(undefined);
    mutate(request);
  }

  return (
    <Card title="Plan requests">
      <ul className="open-requests">
        {requests.map((request) => (
          <li key={request.id}>
            <TwoLines name={<bdi>{shownEmail(request.user_email)}</bdi>} line={<bdi>{request.user_username}</bdi>} />
            <span className="open-requests__plan">
              <span>
                <bdi>{request.template.template_name}</bdi> <TypeBadge isPremium={request.template.is_premium} />
              </span>
              <span className="sub num">{describeRequest(request)}</span>
            </span>
            <span className="open-requests__actions">
              <Button
                size="s"
                aria-label={`Review and assign for ${shownEmail(request.user_email)}`}
                onClick={() => onLoad(request)}
              >
                Review and assign
              </Button>
              <Button
                variant="quiet"
                size="s"
                loading={isPending && variables.id === request.id}
                aria-label={`Decline the request from ${shownEmail(request.user_email)}`}
                onClick={() => decline(request)}
              >
                Decline
              </Button>
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}
