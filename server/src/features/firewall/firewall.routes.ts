import { addRule, deleteRule, listRules, setRuleEnabled } from '@palisade/contract/firewall';
import { nextPage } from '#platform/page.ts';
import { type Api, serve } from '#platform/serve.ts';
import type { Firewall } from './firewall.ts';

export function serveFirewall(api: Api, firewall: Firewall): void {
  const ownRule = { find: ({ id }: { id: string }) => firewall.find(id) };

  serve(api, listRules, 'customer', async ({ session, query, header, request }) => {
    const rules = await firewall.list(session.user.id, query);
    nextPage({ rows: rules, query, url: request.url, header });
    return rules;
  });

  serve(api, addRule, 'customer', ({ session, body }) => firewall.add(session.user.id, body));

  serve(api, setRuleEnabled, ownRule, ({ row, body }) => firewall.setEnabled(row, body.enabled));

  serve(api, deleteRule, ownRule, ({ row }) => firewall.remove(row));
}
