import type { PersonalTable } from '#platform/personal-data.ts';

export interface PushTables {
  push_subscriptions: {
    id: string;
    user_id: string;
    /** Null in a row of an older version, which gets nothing. */
    session_id: string | null;
    endpoint: string;
    p256dh: string;
    auth: string;
    created_at: string;
  };
}

export const PUSH_PERSONAL: readonly PersonalTable[] = [{ table: 'push_subscriptions', withheld: ['p256dh', 'auth'] }];

declare module '#platform/tables.ts' {
  interface Tables extends PushTables {}
}
