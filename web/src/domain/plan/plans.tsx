import { PAGE_SIZE_DEFAULT, PAGE_SIZE_MAXIMUM } from '@palisade/contract/constants';
import { listPlans } from '@palisade/contract/subscription';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { call } from '#api/call.ts';
import { ScreenLink } from '#ui/button-link.tsx';

interface PageOf {
  limit?: number;
  cursor?: string;
}

/** Reads all pages of a list, because searching, sorting and exporting need all rows. */
export async function readAll<Row extends { id: string }>(read: (page: PageOf) => Promise<Row[]>): Promise<Row[]> {
  let asked: number = PAGE_SIZE_DEFAULT;
  let page = await read({});
  const rows = [...page];
  while (page.length >= asked) {
    const last = page.at(-1);
    if (last === undefined) break;
    asked = PAGE_SIZE_MAXIMUM;
    page = await read({ limit: asked, cursor: last.id });
    rows.push(...page);
  }
  return rows;
}

/** Prefix of all queries of plans, because any change may affect all of them. */
export const SUBSCRIPTION_KEY = ['subscription'];

export const plansQuery = queryOptions({
  queryKey: [...SUBSCRIPTION_KEY, 'plans'],
  queryFn: ({ signal }) => readAll((query) => call(listPlans, { query, signal })),
});

/** True if the provider is known to offer no plan, so that there is no list to show. */
export const useHasNoPlans = () => useQuery(plansQuery).data?.length === 0;

interface LinkOfPlanProps {
  variant?: 'primary' | 'quiet';
  size?: 's' | 'm' | 'l';
}

/** A link to the plans on offer, or to the chat if the provider offers none. */
export function LinkToPlans(props: LinkOfPlanProps) {
  return useHasNoPlans() ? (
    <AskForPlan {...props} />
  ) : (
    <ScreenLink to="/subscription-manager" {...props}>
      See plans
    </ScreenLink>
  );
}

export function AskForPlan(props: LinkOfPlanProps) {
  return (
    <ScreenLink to="/chat" {...props}>
      Ask for a plan
    </ScreenLink>
  );
}
