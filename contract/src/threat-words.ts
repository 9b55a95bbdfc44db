/**
 * Descriptions of threats by the kind within a threat's name, as the rule pack (`server/signatures`) and ClamAV (docs.clamav.net, "Signature names")
 * name threats. The most specific kind comes first.
 */
const KINDS: readonly (readonly [RegExp, string])[] = [
  [/^ransom(?:ware)?$/u, 'Ransomware: locks files and demands money'],
  [/^(?:info)?stealer$|^spyware$/u, 'Steals passwords and private files'],
  [/^mimikatz$|^lsassdump$|^hivesave$|^ntdscopy$/u, 'Steals Windows passwords'],
  [/^keylogger$/u, 'Records what you type'],
  [/^(?:coin)?miner$/u, 'Uses your computer to mine cryptocurrency'],
  [/^botnet$|^ircbot$/u, 'Makes devices attack others'],
  [/^webshell$/u, 'Lets a stranger control a website'],
  [/^backdoor$|^reverseshell$|^rat$/u, 'Lets a stranger control the computer'],
  [/^rootkit$/u, 'Hides other malware on the computer'],
  [/^phish(?:ing)?$/u, 'Phishing: tricks you to steal from you'],
  [/^scam$/u, 'Scam: tricks you into paying'],
  [/^worm$/u, 'Spreads to other devices'],
  [/^virus$/u, 'Spreads to other files'],
  [/^dropper$|^downloader$|^loader$/u, 'Brings other programs onto the computer'],
  [/^macro$/u, 'Document that runs hidden commands'],
  [/^exploit$/u, 'Abuses a weak spot in a program'],
  [/^shellcode$/u, 'Attack code that runs other code'],
  [/^disguise$/u, 'Pretends to be a harmless file'],
  [/^trojan$/u, 'Pretends to be useful, but does harm'],
  [/^hacktool$/u, 'Tool for attacks'],
  [/^adware$/u, 'Shows unwanted ads'],
  [/^pack(?:ed|er)$/u, 'Hides what it does'],
];

/** A plain description of a threat. Undefined if its name contains no known kind. */
export function threatWords(threat: string): string | undefined {
  const parts = threat.toLowerCase().split(/[^a-z0-9]+/u);
  return KINDS.find(([kind]) => parts.some((part) => kind.test(part)))?.[1];
}
