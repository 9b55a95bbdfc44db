import type { PersonalTable } from '#platform/personal-data.ts';
export interface ChatTables {
  chat_messages: {
    id: string;
    /** Whose conversation with support it belongs to, whoever wrote it. */
    user_id: string;
    message: string;
    sender: 'user' | 'support';
    timestamp: string;
    /** 1 when the other side has read it. */
    is_read: number;
  };
}

export const CHAT_PERSONAL: readonly PersonalTable[] = [{ table: 'chat_messages' }];
