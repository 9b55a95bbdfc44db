import type { ChatMessage } from '@palisade/contract/chat-record';
import { englishOf, type Template } from '@palisade/contract/phrase';
import { CHAT_PHRASES } from '#features/chat/chat.phrases.ts';

const CATALOG: Readonly<Record<string, Template>> = CHAT_PHRASES;

/** The English that a page makes of a message's phrases by the catalog; undefined without phrases, and for an unknown code. */
export function chatEnglish({ phrases }: Pick<ChatMessage, 'phrases'>): string | undefined {
  const sentences = phrases?.map(({ code, params }) => {
    const template = CATALOG[code];
    return template && englishOf(template, params);
  });
  return sentences?.includes(undefined) === true ? undefined : sentences?.join(' ');
}
