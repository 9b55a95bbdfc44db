import type { Rule } from '@palisade/contract/firewall';
import { findings } from '@palisade/contract/firewall-verdict';

/** Analyses many rules in a worker, so that the page stays responsive. */
self.onmessage = ({ data }: MessageEvent<readonly Rule[]>) => {
  self.postMessage(findings(data));
};
