import type { WordList } from './concepts.ts';

export const ITALIAN: WordList = {
  click: `clicca; clicchi; cliccare; al link; sul link; tramite il link; annulli qui; qui:; segua il link; acceda; visita;
    segui il link; link seguente; seguente link; dal link; accedi; vai su; entra; apri il link`,
  call: `chiami; chiama; chiamare; contatti; telefoni; al numero; componga; richiami; ci chiami; numero verde; contatta;
    parli con; ci contatti; al numero verde; telefonicamente; contatti il; si rivolga`,
  reply: `scrivimi; scriva; scrivi; rispondi; risponda; contatta; contatti; mandami un messaggio; fammi sapere; inviami; mandami;
    aggiungimi; interessat*; messaggiami; contattami; rispondere; parla con; chatta con; invia un whatsapp; scrivi a`,
  pay: `paghi; pagare; paga; saldi; saldare; versi; versare; non pagat*; mancano; da pagare; paghi solo; pagamento;
    effettui il pagamento; depositare; regolarizzi; spese; non risulta pagato; pagate; insolut*; importo; trasferisci; saldo;
    pagato`,
  transfer: `bonifico; trasferisci; trasferire; mandali; inviare denaro; invia soldi; faccia il bonifico; farmi un bonifico;
    un pagamento di; nuovo fornitore; manda i soldi; disponga; bonificare; mandami i soldi; ricarica; ricaricami; versa`,
  gift_card: `carta/carte/buono/buoni regalo; carta/carte steam/google/apple/amazon/itunes/prepagata/prepagate;
    ricariche prepagate; google play; gift card; paysafecard; buoni amazon; carte google; ricarica prepagata`,
  card_codes: `foto dei codici; gratta; grattare; inviami i codici; mandami le foto; il codice sul retro; foto del codice;
    gratta i; foto dei codici; codici e; mandami _ codici; inviami _ codici; invii i codici`,
  crypto: `bitcoin*; btc; usdt; cripto*; criptovalut*; ethereum; portafoglio; wallet`,
  money_service: `western union; moneygram; ria; paysafecard; postepay`,
  cash_pickup: `prendere i contanti; ritirare i contanti; ritirare i soldi; passa un amico; passa un corriere; contanti;
    un amico/corriere/collega/avvocato passa/passera; gioielli; prendere i soldi; verra a prendere; oro`,
  secret_data: `password; pin; dati della carta; numero della carta; coordinate bancarie; i suoi dati; i tuoi dati; iban; cvv;
    credenziali; dati personali; codice di sicurezza; inserisci la carta; dati bancari; codice otp; dati di accesso;
    codice fiscale; la carta; id e password; codici`,
  confirm: `verifichi; verifica; verificare; confermi; conferma; confermare; aggiorni; aggiorna; aggiornare; riattivi;
    riattivare; riattivarla; sblocchi; sbloccare; inserisca; inserisci; completi; annulli; convalidi; la sua identita; comunichi;
    acceda; compili; inserire; confermare la; autentic*; rinnovi; blocchi; scelga; scegli; nuova data; rinnovi; richieda; eviti;
    blocchi qui; disconosca`,
  chat_app: `whatsapp; telegram; signal; viber; wechat`,
  remote_tool: `anydesk; teamviewer; quicksupport; rustdesk; accesso remoto; controllo remoto; supremo; condivisione schermo;
    assistenza remota`,
  tell_number: `comunichi il numero; mi dia; mi dica; dia il numero; id e; comunichi; dettare; il numero al; mi detti; ci dica;
    il codice a 9`,
  lend: `prestarmi; presti; mi presti; prestami; ho bisogno di soldi; bisogno di _ euro; mi servono _ euro/soldi;
    farmi un bonifico; aiuti con; mi aiuti; pagare per me; ti restituisco; puoi pagare; non riesco a entrare; puoi farmi;
    con un pagamento; pagarmi; puoi aiutarmi; fammi una ricarica; anticipare; ti ridò; ti rido; ti ridò tutto; i soldi domani;
    mi presti; pagare una bolletta; inviarmi; mandarmi; mi servono 1*/2*/3*/5*; te li ridò; te li rido; ti ripago; anticiparmi;
    puoi inviare; prestami; farmi un favore; la mia carta non funziona; pagarmi una; pagare per me; comprare qualcosa per me;
    mi puoi pagare`,
  urgent: `urgente*; subito; immediat*; al piu presto; oggi; ora; adesso; ultimo avviso; avviso finale; entro oggi; appena puoi;
    quanto prima; rapidamente; urgenza; attenzione; importante; ultimo sollecito; tempestivamente; avviso; in giornata`,
  deadline: `entro 24/48; entro oggi; entro le; 24 ore; 48 ore; scade oggi; due giorni; entro; scadenza; hai due; giorni;
    entro domani; prima di mezzanotte; in scadenza; ultimo giorno`,
  threat: `altrimenti; o verra; per evitare; eviti; sara sospes*; sara bloccat*; pignoramento; fermo; arrestato;
    tornera al mittente; o mando; verra disattivat*; maggiorazione; perdera; sanzioni; in caso contrario; sara disattivat*; pena;
    verra chius*; tornera; ulteriori costi; verra restituito; verra bloccat*; disattivazione; interruzione`,
  secrecy: `tra noi; non ne parli; con nessuno; non dirlo; riservat*; riservatezza; segret*; resti tra; a nessuno; sorpresa;
    confidenzial*; massima discrezione; senza dire; discrezione; non dire`,
  account: `conto; carta; banca; home banking; postepay; accesso; abbonamento; account; app della banca; utenza; apple id;
    profilo; bancaria; bancario; spid`,
  blocked: `bloccat*; sospes*; limitat*; disattivat*; scadut*; scade; sospensione; congelat*; interrott*; anomal*;
    verra disattivata; temporaneamente; chius*; rifiutat*; non andato a buon fine; disabilitat*; blocco; in scadenza; revocat*`,
  unusual: `attivita sospetta/insolita/anomala; nuovo dispositivo; se non e stato lei; se non sei stato tu; accesso anomalo;
    accesso sospetto; operazione sospetta; e stato collegato; nuova normativa; non autorizzat*; tentativo di accesso;
    pagamento di; addebito; anomali*; non riconosce; accesso da; movimento sospetto; bonifico di; per motivi di sicurezza;
    disconosc*; sospett*; normativa psd2; nuovo accesso; rilevato; accesso anomalo; abbiamo rilevato; e stato effettuato;
    dispositivo sconosciuto; confermi; tentativo; bonifico in uscita; e stato richiesto; cambio numero; nuovo bonifico;
    se non ha richiesto; e stato disposto; pagamento in uscita`,
  parcel: `pacco; spedizione; consegna; corriere; dogana*; ordine; deposito; merce; mittente; plico; giacenza; tracking;
    magazzino`,
  held_parcel: `non e stato consegnato; non consegnat*; ferm*; in giacenza; dazi; dazio; spese di spedizione; spese doganali;
    indirizzo e incompleto; indirizzo incompleto; indirizzo errato; tornera al mittente; in attesa; mancano; sblocco; tassa;
    non pagati; riprogramm*; trattenut*; tariffa; oneri; numero civico; bloccat*; tentativo di consegna; non e stato possibile;
    sospes*; aggiorni; svincolo; nuova consegna; non riuscita; consegna non; nuova consegna; riconsegna; rinviata;
    non e stato possibile; mancata consegna; svincol*; supplemento`,
  fee: `spese; tassa; spese di pratica; commissione; dazi; spese di spedizione; oneri; costi; tariffa`,
  relation: `mamma; papa; nonna; nonno; sono io; tuo figlio; tua figlia; zia; zio; ciao mamma; mami; tuo nipote; tua nipote;
    babbo; figlio; figlia`,
  new_number: `nuovo numero; numero nuovo; salva questo numero; altro numero; numero provvisorio; cancella il vecchio;
    mio numero; numero temporaneo; elimina il vecchio; numero nuovo; e il mio numero; in riparazione; telefono sostitutivo;
    numero di un amico; da questo numero`,
  phone_broken: `rotto il telefono; telefono rotto; rotto il cellulare; cellulare rotto; mi si e rott*; telefono si e;
    caduto in acqua; perso il telefono; in acqua; rubato il telefono; caduto il; schermo rotto; telefono in; perso il cellulare;
    e caduto; nell'acqua; rotto il mio`,
  new_phone: `nuovo telefono; telefono nuovo; nuovo cellulare; cellulare nuovo; nuova sim`,
  trouble: `incidente; cauzione; polizia; carabinieri; avvocato; arrestat*; emergenza; caserma; carcere`,
  boss: `direttore; direttrice; amministratore; amministratore delegato; capo; presidente; titolare; ceo; responsabile;
    dirigente; preside; parroco`,
  unavailable: `in riunione; non posso parlare; non posso rispondere; sei disponibile; sei libera; sei libero; un favore;
    un compito; sei in ufficio; un incarico; piccolo favore; in conferenza; un piacere`,
  virus: `virus; infett*; trojan; malware; hacker; hackerat*; spyware; compromess*; violat*; intrus*; minacc*; a rischio;
    minacce; file sospetti; violazione; allarme; attacco`,
  technician: `tecnico; tecnici; assistenza; supporto; reparto tecnico; microsoft; windows; licenza e scaduta; servizio clienti;
    ufficio frodi; ufficio antifrode; ufficio sicurezza; operatore; servizio tecnico; antifrode`,
  renewed: `rinnovat*; addebitat*; addebito; verra addebitat*; abbonamento; acquisto di; ordine di; si rinnovera; prelevat*;
    rinnovo; saranno addebitati; verranno addebitati; fattura; il suo acquisto; addebitati`,
  not_authorised: `non ha autorizzato; non hai autorizzato; se non; per annullare; annullare; disdire; non riconosce; contestare;
    per disdire; per bloccare; non e stato lei; per cancellare`,
  refund: `rimborso; rimborsare; ha diritto; addebitata due volte; le spetta; bonus; indennizzo; risarcimento; accredito;
    contributo; credito; a suo favore; sussidio; restituzione; assegno; indennita; spettante; riceverlo; spetta; da riscuotere;
    bonus di; in pagamento; erogazione; somma disponibile; contributo; arretrati; indennizzo; accreditare; pagato in eccesso;
    pagato di piu; addebitato in piu`,
  overpaid: `troppo; per errore; in eccesso; per sbaglio; in piu`,
  give_back: `restituisca; differenza; restituire; rimandi; rinvii; rimborsi; restituzione; rimborsare; ridia`,
  fine: `multa*; sanzione; infrazione; bollo; pignoramento; contravvenzione; pedaggio; verbale; mandato; cartella; insolut*;
    pagopa; tributi; non pagata; sollecito; fermo; avviso di pagamento; recupero crediti`,
  law: `pignoramento; arresto; arrestat*; polizia; tribunale; avvocato; carabinieri; fermo; ufficiale giudiziario; denuncia;
    penale; procura; interpol; europol; maggiorazione; processo; giudice; azioni legali; vie legali; convocazione;
    guardia di finanza`,
  job: `lavoro; posto; impiego; offerta; risorse umane; compiti; curriculum; corso; smart working; conto di lavoro; stipendio;
    assunzione; responsabile; part time; selezion*; candidatura; posizione; recruiter; azienda; annuncio`,
  easy_money: `guadagna*; al giorno; da casa; senza esperienza; giornalier*; commissione; compiti semplici; soldi facili;
    all'ora; ore al giorno; ricevi; guadagn*; reddito; ogni giorno; a settimana; entrata extra; entrate; extra; mensili;
    valuta prodotti; valuta hotel; recension*; basta un telefono; compiti facili; per ogni; dal telefono; guadagna 1*`,
  income: `entrata extra; entrate extra; guadagno extra; guadagnare; guadagna 1*/2*/3*/5*; guadagna da; soldi facili;
    reddito extra; rendita passiva; pagamento giornaliero; guadagni giornalieri; reddito passivo; secondo lavoro`,
  advance_fee: `prima di iniziare; per il corso; per attivare; prima depositare; depositare; per prelevare; prelevare;
    quota di iscrizione; sbloccare; devi prima; deposito iniziale; primo stipendio; attivare il conto; materiale; attrezzatura;
    quota; kit; anticipo; versare; ricaricare`,
  affection: `amore mio; amore; tesoro; ti amo; cuore mio; mia vita; mia regina; abbracciarti; mi manchi; numero sbagliato;
    da te; anima gemella; carissima; vederti; principessa; innamorat*; conoscerti; stella; cara mia`,
  stuck: `bloccat*; in dogana; piattaforma petrolifera; militare; chirurgo; soldato; esercito; siria; carta e bloccata;
    per il volo; volo; per venire; eredita; missione; contratto; valigia; biglietto; visto; conto bloccato; medico; ingegnere;
    estero; trattenut*; bagagli; rubat*; portafoglio; hotel; sequestrat*; valigia; passaporto; aeroporto; emergenza; senza soldi;
    rapinat*`,
  investment: `investire; investiment*; trading; cripto*; bitcoin; forex; broker; investi; gruppo di trading; trader`,
  sure_profit: `garantit*; senza rischi*; raddoppi*; rendiment*; profitt*; moltiplic*; liberta finanziaria; triplic*;
    guadagno garantito; guadagni garantiti; rendimento garantito`,
  dwelling: `appartamento; casa; stanza; camera; monolocale; affitto; affittare; alloggio; immobile; locazione; padrone di casa;
    bilocale; villa; vacanze`,
  cannot_show: `all'estero; non posso mostr*; non posso far*; spedisco le chiavi; ricevera le chiavi; tramite airbnb;
    fuori italia; non sono in; trasferit*; le invio le chiavi; mando le chiavi; via airbnb; chiavi per; chiavi tramite;
    dopo il pagamento; dopo il bonifico; senza visita; visita dopo`,
  deposit: `caparra; deposito; in anticipo; anticipo; cauzione; prima mensilita; mensilita; acconto; bloccare; prenotare;
    garanzia`,
  scan: `scansioni; scansiona; inquadra; inquadri; codice qr; qr; qr code; scansionare`,
  paid_place: `parcometro; parcheggio; sosta; colonnina; parchimetro; fuori servizio; posteggio; monopattino; strisce blu`,
  invoice: `fattura*; fatture; pagament*; fornitore; saldo; pagate; bonific*; importo; scadenze`,
  new_account: `coordinate bancarie sono cambiate; nuovo conto; nuovo iban; cambiato banca; conto e cambiato; vecchio e chiuso;
    cambio iban; variazione iban; nuove coordinate; vecchio iban; cambio di banca; cambio conto; nuova banca; cambiato iban;
    iban e cambiato`,
  code: `codice; 6 cifre; sei cifre; codice di verifica; otp; codice sms; pin; codici`,
  pass_on: `inoltrare; inoltri; inoltrami; mi legga; mi dica; mi detti; mandami il codice; per sbaglio; per errore; dimmi;
    comunichi; me lo; mandamelo; inviamelo; girarmelo; mi dia; dammi; mi comunichi; leggimi; giramelo; mi giri; mi mandi;
    ci comunichi; risponda con; codice ricevuto; codice dell sms; comunichi il codice; fornisca il codice; dia il codice;
    ci invii il codice; il codice che ha; leggere il codice; codice che le; mandami il codice; dammi il codice; passami il codice;
    codice che ti arriva; girami il codice`,
  keep_code: `non comunicarlo; non condivider*; non comunicare; a nessuno; mai; non darlo; non lo comunichi;
    se non l'hai chiesto; non inoltrare; non riveli; non lo condivida; non chiederemo mai; se non lo hai; non divulgare`,
  one_time_code: `codice di 6; codice a 6; codice di sei; codice di verifica; codice sms; codice che; otp; codice via sms;
    codice di sicurezza; codice whatsapp`,
  know_password: `conosco la tua password; conosco la sua; la tua password; hackerato; pieno accesso; accesso ai tuoi;
    accesso completo; infettato; installato; sono un hacker; tuoi dispositivi; tuo dispositivo; trojan; la sua password;
    suo dispositivo`,
  recorded: `webcam; ripreso; registrat*; video intimo; siti per adulti; porno*; video di te; intim*; masturb*; nud*; telecamera;
    foto intime; filmat*; registrazione; fotocamera; video`,
  publish: `contatti; a tutti i tuoi; familiari; famiglia; amici; pubblic*; diffond*; lo vedranno; mando il video; colleghi;
    invio; vedranno; parenti; social; divulg*; inviero; condivid*`,
  won: `vinto; hai vinto; vincitore; vincitrice; congratulazioni; selezionat*; lotteria; estrazione; sorteggi*; premio;
    ti aspetta; riservat*; sondaggio; fortunat*; estratto; vincita; complimenti; scelto; vincere; omaggio; aggiudicat*;
    visitatore; 1 000 000; fortunato; ritira il tuo; omaggio; esclusiv*; samsung; iphone; gratis`,
  claim: `riscatta*; riscattalo; ritira; ritirare; confermi la consegna; ricever*; contatti; spese di; spedizione; ottenere;
    consegna; incassa*; reclama*; conferma; richiedi; partecipa; sbloccar*; riceverlo; richieda; ottieni`,
  costs: `per sms; euro sms; a messaggio; per messaggio`,
  advertised: `gratis; vinci; premio; chat; suoneri*`,
  opt_out: `invia stop; disiscriv*; cancellarti`,
};
