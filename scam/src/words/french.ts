import type { WordList } from './concepts.ts';

export const FRENCH: WordList = {
  click: `cliquez; clique; via le lien; sur le lien; en suivant; suivez le lien; annulez ici; ici:; rendez vous; par ce lien;
    connectez vous; lien suivant; lien ci dessous; sur ce lien; accedez; consultez; visitez`,
  call: `appelez; appeler; appelle; contactez; telephonez; joignez; au numero; composez; rappelez; rappeler; joindre le; parlez;
    joignez nous; composez le; par telephone; contactez le; notre conseiller`,
  reply: `ecris moi; ecrivez; ecrivez moi; reponds; repondez; contactez; contacte; envoie moi un message; fais moi signe;
    envoyez; message moi; envoie; reponse; ajoutez moi; interesse; repondre; recontacter; tiens moi; discutez avec; parlez a;
    envoyez un whatsapp`,
  pay: `payez; payer; paye; reglez; regler; acquittez; reste a payer; restent a payer; impaye*; frais de; veuillez payer;
    merci de regler; paiement; versez; deposer; verser; il manque; regularisez; regularisation; frais; solde; debourser;
    affranchissement; transferez`,
  transfer: `virement; transferez; transferer; envoie les; envoyez l'argent; faire un virement; envoyer de l'argent; effectuez;
    nouveau fournisseur; un paiement de; fais moi; versement; verse; deposer; envoie l'argent; envoie moi; mandat cash`,
  gift_card: `carte/cartes cadeau/cadeaux; carte/cartes steam/google/apple/amazon/itunes/prepayee/prepayees; recharges prepayees;
    google play; pcs; neosurf; transcash; coupons recharge; recharge pcs; cheques cadeaux; tickets pcs; carte prepayee;
    cartes google`,
  card_codes: `codes en photo; grattez; photos des codes; photo des codes; envoyiez les codes; envoyez les codes; gratter;
    envoyez les; numeros au dos; codes en; envoyez _ codes; envoyer les codes; codes par; envoyiez _ codes`,
  crypto: `bitcoin*; btc; usdt; crypto*; cryptomonnaie*; ethereum; portefeuille`,
  money_service: `western union; moneygram; pcs; ria; mandat cash; transcash`,
  cash_pickup: `chercher les especes; recuperer l'argent; recuperer les; chercher l'argent; viendra chercher; passera;
    en especes; un ami/coursier/collegue viendra/passera; coursier; recuperer la carte; remettez`,
  secret_data: `mot de passe; code secret; coordonnees bancaires; carte bancaire; numero de carte; vos donnees; rib;
    vos informations; informations personnelles; cvv; identifiants; identifiant; code confidentiel; entrez votre carte;
    coordonnees; votre carte; donnees bancaires; votre iban; numero de securite sociale; informations bancaires; moyen de paiement`,
  confirm: `verifiez; verifier; confirmez; confirmer; mettez la a jour; mettez a jour; mettre a jour; validez; valider;
    reactivez; debloquez; saisissez; renseignez; completez; annulez; actualisez; renouvelez; identite; retablir; connectez vous;
    authentifi*; remplissez; mise a jour; indiquez; regulariser; reactiver; choisissez; choisir un; nouveau creneau; demandez;
    renouveler; demander la nouvelle; selectionnez; bloquez; opposez`,
  chat_app: `whatsapp; telegram; signal; viber; wechat; snapchat`,
  remote_tool: `anydesk; teamviewer; quicksupport; rustdesk; prise en main a distance; acces a distance; supremo;
    partage d'ecran; controle a distance`,
  tell_number: `donnez moi; donnez; communiquez; dites moi; l'identifiant et; le numero a; indiquez le; donnez le; code a 9`,
  lend: `preter; pretes; prete moi; j'ai besoin d'argent; besoin de _ euros; il me faut de l'argent; peux tu me faire;
    me faire un virement; m'aider pour; te rembourse; payer pour moi; avancer; tu peux m'aider; pour un paiement;
    n'arrive pas a acceder; depanner; peux tu payer; m'avancer; faire un virement; me depanner; m'avancer; payer une facture;
    peux tu m'envoyer; m'envoyer; besoin de 1*/2*/3*/5*; je te rendrai; rends demain; depanner; preter; tu peux m'avancer;
    me preter; me rendre un service; ma carte ne marche pas; payer une facture pour; payer pour moi; commander quelque chose`,
  urgent: `urgent*; immediatement; tout de suite; au plus vite; aujourd'hui; sans attendre; dernier rappel/avis; sans delai;
    rapidement; des que; ce jour; sans tarder; maintenant; des maintenant; important; attention; alerte; derniere chance; dernier;
    urgence; au plus tot; vite; derniere relance`,
  deadline: `sous 24h; sous 24/48; sous 48; dans les 24/48; 24 heures; 48 heures; expire ce jour; expire aujourd'hui;
    avant ce soir; deux jours; 24h; 48h; avant minuit; avant le; jours; delai; expire; avant demain; date limite`,
  threat: `sinon; sous peine; pour eviter; evitez; faute de quoi; sera suspendu*; sera bloque*; sera retourne; majoration;
    huissier; saisie; arrete; ou j'envoie; sera cloture; perdre; afin d'eviter; a defaut; poursuites; sera desactive*;
    ou le colis; penalites; sans quoi; coupure; retour a`,
  secrecy: `entre nous; n'en parlez a personne; a personne; ne dis rien; confidentiel*; confidentielle; secret*; discret*;
    discretion; ne le dis pas; surprise; reste entre; ne parle pas; sans en parler; strictement`,
  account: `compte; carte; banque; bancaire; espace client; certicode; acces; abonnement; cle digitale; votre espace; apple id;
    securipass; carte vitale; profil`,
  blocked: `suspendu*; bloque*; limite*; desactive*; restreint*; expire; sera suspendu; ferme; gele; interrompu; rejete; refuse;
    temporairement; cloture; suspension; echoue; n'a pas abouti; invalide; arrive a expiration; expirera`,
  unusual: `activite inhabituelle/suspecte; nouvel appareil; si ce n'est pas vous; si ce n'etait pas vous; connexion suspecte;
    connexion inhabituelle; tentative de; operation suspecte; paiement suspect; nouvelle directive; a ete associe;
    nouveau beneficiaire; non autorise*; vous n'etes pas a l'origine; pas a l'origine; ajoute un beneficiaire; achat de;
    pour des raisons de securite; transaction; paiement de; suspect*; inhabituel*; mesure de securite; debit de;
    nouvelle reglementation; detecte*; nouvelle connexion; connexion depuis; nouvel appareil; nous avons; tentative; securisez;
    n'est pas vous; achat en cours; debit; a ete demande; changement de numero; nouveau virement; si vous n avez pas;
    un paiement de; un virement de; arrive a expiration`,
  parcel: `colis; livraison; envoi; livreur; expedition; douane; dedouanement; paquet; commande; affranchissement; depot;
    expediteur; relais; facteur; boite aux lettres`,
  held_parcel: `n'a pas pu etre livre; pas pu etre; bloque; frais de douane; frais de livraison; frais de port;
    adresse est incomplete; adresse incomplete; adresse incorrecte; retourne a; retourne; en attente; restent a payer;
    reprogramm*; manque; taxe; frais; echec de livraison; reporter; depot; numero de rue; numero de rue manquant;
    informations manquantes; livraison impossible; tentative de livraison; ne rentre pas; mettez la; dedouanement;
    droits de douane; affranchissement; non livre; suspendu; nouvelle livraison; reporter; reportee; a ete reportee; reprogrammer;
    nouvelle livraison; livraison echouee; absence; non distribue; supplement; poids; boite aux lettres`,
  fee: `frais; frais de dossier; taxe; frais de livraison; affranchissement; frais de traitement; commission; frais d'envoi;
    droits`,
  relation: `maman; papa; mamie; papi; papy; c'est moi; ton fils; ta fille; mamy; tonton; tata; grand mere; grand pere;
    coucou maman; petit fils; petite fille`,
  new_number: `nouveau numero; mon nouveau; enregistre ce numero; numero provisoire; autre numero; numero temporaire; voici mon;
    efface l'ancien; supprime l'ancien; nouveau numero; c'est mon nouveau; telephone est hors; numero d'un ami; sur ce numero;
    telephone de remplacement`,
  phone_broken: `telephone est casse; telephone casse; casse mon telephone; portable est casse; perdu mon telephone; telephone a;
    tombe dans l'eau; dans l'eau; ecran casse; telephone vole; portable en panne; fait tomber mon; telephone est tombe; cassé mon;
    hors service; vole mon; mon telephone est; perdu mon portable; telephone en panne; portable casse`,
  new_phone: `nouveau portable; nouveau telephone; nouveau mobile; nouvelle sim`,
  trouble: `accident; caution; police; avocat; garde a vue; urgence; ennuis; commissariat; prison`,
  boss: `directeur; directrice; directeur general; pdg; patron; president; responsable; gerant; ceo; dg; direction; chef`,
  unavailable: `en reunion; pas joignable; ne peux pas parler; etes vous disponible; es tu disponible; besoin que vous;
    un service; une tache; j'ai besoin de vous; besoin d'un service; en conference; etes vous au bureau; ne peux pas repondre;
    petit service; rendre un service; injoignable`,
  virus: `virus; infecte*; cheval de troie; trojan; malware; pirate; pirates; hacker; piratage; spyware; compromis;
    logiciel malveillant; logiciel espion; menace*; en danger; menaces; compromise; fichiers suspects; faille; alerte de securite;
    attaque`,
  technician: `technicien*; support technique; service technique; assistance; microsoft; windows; support; licence a expire;
    service client; service fraude; service securite; conseiller; service des fraudes`,
  renewed: `renouvele; preleve; prelevement; debite; sera preleve; sera debite; abonnement; achat de; facture de; reconduit;
    commande de; reconduction; seront preleves; sera preleve; facture; votre achat; seront debites; preleves`,
  not_authorised: `n'avez pas autorise; pas a l'origine; pas autorise; pour annuler; annuler; si vous n'; resilier; contester;
    vous opposer; faire opposition; si ce n'est pas vous; non reconnu`,
  refund: `remboursement; rembourse; droit a; debitee deux fois; une aide; trop percu; indemnisation; prime; cheque energie;
    credit d'impot; vous est attribuee; percevoir; aide de; indemnite; prime energie; somme de; en votre faveur; trop verse;
    restitution; remboursement de; allocation; trop percu; versement en attente; somme disponible; prime; aide exceptionnelle;
    credit en votre faveur; indu; paiement en attente; en attente de versement; trop paye; facture en trop; surfactur*`,
  overpaid: `trop rembourse; par erreur; trop; trop percu; par megarde; trop verse`,
  give_back: `renvoyez; difference; restituez; rendre; retournez; reverser; rembourser; restituer; reversez`,
  fine: `amende*; impaye*; contravention; infraction; dette; peage; penalite; majoration; crit'air; huissier; antai;
    exces de vitesse; proces verbal; creance; telepeage; redevance`,
  law: `huissier; saisie; tribunal; police; mandat d'arret; arrete; poursuites; gendarmerie; prison; justice; majoration; avocat;
    contentieux; penale; interpol; europol; juge; convocation; bloquera votre`,
  job: `emploi; travail; poste; job; recrutement; ressources humaines; taches; cv; formation; teletravail; compte de travail;
    salaire; responsable; offre; recruteur; temps partiel; agence; candidature; missions; mission`,
  easy_money: `gagnez; par jour; chaque jour; a la maison; sans experience; de chez vous; revenus; commission; taches simples;
    argent facile; de l'heure; heures par jour; touchez; a domicile; complement de revenu; quotidien*; par semaine; depuis chez;
    remuner*; gagner; notez des produits; notez des hotels; evaluer; notez; juste un telephone; taches faciles; par tache;
    depuis votre telephone; avis`,
  income: `revenu complementaire; complement de revenu; revenus complementaires; gagner de l'argent; gagnez de l'argent;
    gagnez 1*/2*/3*/5*; argent facile; revenu passif; paiement quotidien; arrondir vos fins; gagner jusqu'a; gagnez jusqu'a;
    revenus quotidiens`,
  advance_fee: `avant de commencer; pour la formation; pour activer; d'abord deposer; d'abord; deposer; pour retirer;
    retirer votre; frais d'inscription; debloquer; frais de formation; depot initial; premier salaire; equipement; activation;
    recharger; materiel; frais de dossier; avance`,
  affection: `mon amour; amour; cheri; cherie; je t'aime; mon coeur; ma vie; ma reine; mes bras; tu me manques; te voir;
    faux numero; mauvais numero; ame soeur; ma belle; mon ange; te serrer; ma cherie; te rencontrer; bebe`,
  stuck: `bloque; bloquee; a la douane; plateforme petroliere; militaire; chirurgien; soldat; armee; syrie; carte est bloquee;
    pour le vol; le vol; pour venir; heritage; mission; contrat; valise; billet; visa; compte bloque; ingenieur; medecin;
    etranger; billet d'avion; coince*; colis a la douane; vole; voles; portefeuille; hotel; confisque*; valise; passeport;
    aeroport; urgence; sans argent; coince; agresse`,
  investment: `investir; investissement*; trading; crypto; bourse; bitcoin; forex; courtier; groupe de trading; investissez;
    trader`,
  sure_profit: `sans risque; doublez; double* votre; doubler; benefice*; multipli*; liberte financiere; profit*; tripl*;
    gain garanti; gains garantis; rendement garanti; gagnez _ jour; profit garanti; rendement de _ jour`,
  dwelling: `appartement; logement; maison; chambre; studio; location; louer; proprietaire; loyer; bail; bien; meuble;
    colocation; gite`,
  cannot_show: `a l'etranger; ne peux pas faire visiter; pas faire visiter; envoie les cles; recevrez les cles; via airbnb;
    travaille a; pas sur place; en deplacement; hors de france; mute; demenage; les cles par; cles par; les cles seront;
    apres paiement; apres le virement; sans visite; visite apres`,
  deposit: `caution; d'avance; acompte; premier loyer; mois d'avance; reserver; arrhes; depot de garantie; avance; reservation;
    bloquer le; virement`,
  scan: `scannez; scanner; flashez; qr code; qr; code qr; flasher; scan`,
  paid_place: `horodateur; stationnement; parking; borne de recharge; parcmetre; borne; payer votre; trottinette; hors service`,
  invoice: `facture*; reglement*; paiement*; fournisseur; regler; payer; echeance; loyers; impayes`,
  new_account: `coordonnees bancaires ont change; nouveau compte; nouveau rib; nouvel iban; change de banque; rib a change;
    ancien est ferme; nouvelles coordonnees; changement de rib; changement de coordonnees; changement de banque; nouveau iban;
    nouveaux comptes; nouvelle banque`,
  code: `code; 6 chiffres; code de verification; code sms; code recu; otp; certicode; code de validation; six chiffres`,
  pass_on: `transferer; transfere; renvoie; dictez moi; donnez moi; donne moi; envoie moi le; par erreur; communiquez moi;
    dites moi; lisez moi; partage; me le; me l'envoyer; me le donner; peux tu me; tu peux me; communiquer le; donner le code;
    transmettez; dictez; transmets; me transmettre; communiquez moi le code; code recu par; repondez avec; donnez le code;
    le code du sms; indiquez le code; fournir le code; me communiquer; envoyez nous le code; lire le code; envoie moi le code;
    donne moi le code; le code que tu; passe moi le code; code qui arrive`,
  keep_code: `ne le communiquez; ne le partagez; ne partagez; ne communiquez; ne le donnez; jamais; a personne; ne transmettez;
    ne divulguez; si vous n'avez rien demande; ne demandera jamais; pas a l'origine de cette demande; ne le donne;
    ne le transmettez; ne donnez`,
  one_time_code: `code a 6; code a six; code de verification; code sms; code recu; code que; otp; code de validation;
    code par sms; code de securite; code whatsapp`,
  know_password: `connais votre mot de passe; connais ton mot de passe; votre mot de passe; pirate votre; acces complet;
    acces a vos; infecte; installe; je suis un hacker; vos appareils; ton mot de passe; pirate; votre appareil; logiciel espion;
    acces total`,
  recorded: `webcam; camera; filme*; enregistre*; video intime; site pour adultes; sites pour adultes; porno*; video de vous;
    intime*; masturb*; nu; nue; photos intimes; nues; enregistrement; pornographique*; video`,
  publish: `contacts; a tous vos; proches; famille; amis; publier; publierai; diffuser*; diffusion; verront; envoie la video;
    collegues; reseaux sociaux; enverrai; entourage; partage*; partagerai`,
  won: `gagne; avez gagne; gagnant*; felicitations; selectionne*; loterie; tirage; tombola; lot; vous attend; reserve*; sondage;
    heureux gagnant; elu; tire au sort; laureat; recompense; cadeau; remporte; chanceu*; choisi; visiteur; 1 000 000; heureux;
    vous etes le; cadeau vous attend; gratuit; exclusi*; tirage; samsung; iphone`,
  claim: `reclamez; recuperez; retirer; confirmez la livraison; recevoir; contactez; frais de; livraison; obtenir; profitez;
    debloquer; empocher; beneficier; reclamer; participer; percevoir; agent; cliquez; recevez`,
  costs: `par sms; eur sms; par message; euros par`,
  advertised: `gratuit*; gagnez; cadeau; chat; sonnerie`,
  opt_out: `stop au; envoyez stop; desabonner`,
};
