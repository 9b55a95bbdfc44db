import type { PlanRequestStatus } from '@palisade/contract/subscription';
import type { Generated } from 'kysely';
import type { PersonalTable } from '#platform/personal-data.ts';

/** The columns of a plan, in every table with plans. */
interface PlanColumns {
  currency: string;
  duration_months: number;
  max_devices: number;
  max_web_devices: Generated<number>;
  max_profiles: Generated<number>;
  /** 0 or 1. */
  is_premium: number;
  /** JSON. */
  features: string;
}

export interface SubscriptionTables {
  subscription_templates: PlanColumns & {
    id: string;
    template_name: string;
    /** The name normalized for comparison: NFKC, lower case. */
    template_name_key: string;
    base_price_cents: number;
    created_at: string;
  };
  subscriptions: PlanColumns & {
    id: string;
    user_id: string;
    plan_name: string;
    price_cents: number;
    starts_at: string;
    expires_at: string | null;
    /** Null for the person's single current subscription, which may have expired. */
    ended_as: 'replaced' | 'cancelled' | null;
    ended_at: string | null;
  };
  subscription_requests: {
    id: string;
    user_id: string;
    template_id: string;
    status: PlanRequestStatus;
    requested_at: string;
    decided_at: string | null;
  };
}

export const SUBSCRIPTION_PERSONAL: readonly PersonalTable[] = [
  { table: 'subscriptions', json: ['features'] },
  { table: 'subscription_requests' },
];

declare module '#platform/tables.ts' {
  interface Tables extends SubscriptionTables {}
}
